#!/bin/sh
TP=8
export SIZE=300
python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 \
  --tp $TP --mem-fraction-static=0.93 \
  --enable-hierarchical-cache --hicache-size "${SIZE:-30}" # per rank
