from tests.programs.adversarial import loading

loading.TIMES["left"] = 1
import tests.programs.adversarial.loading_right
