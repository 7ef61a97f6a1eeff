from tests.programs.adversarial import loading

loading.TIMES["right"] = 1
import tests.programs.adversarial.loading_left
