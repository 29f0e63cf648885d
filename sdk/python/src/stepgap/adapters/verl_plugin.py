"""Registers StepGap's advantage estimators when verl imports it.

VERL_USE_EXTERNAL_MODULES=stepgap.adapters.verl_plugin
"""

from .verl import register

register()
