from tests.programs.adversarial import loading

loading.TIMES["numbers"] += 1
NUMBER = loading.TIMES["numbers"]
