docker run --gpus all --shm-size 32g --memory 400g --ulimit memlock=-1 -e 'A=b c' lmsysorg/sglang:v0.5.6 python3 -m sglang.launch_server --model-path Qwen/Qwen3-32B --tp 2
