/** Made by tools/model-snapshot.ts; model-limits.ts describes a line. */
export const MODEL_SNAPSHOT = `# models 2026-11-02 bundled
anthropic/claude-fable-5 1000000 128000 10 50 1 12.5
anthropic/claude-fable-5-1 1000000 128000 10 50 0.25 12.5
anthropic/claude-haiku-4-5 200000 64000 1 5 0.1 1.25
anthropic/claude-haiku-4-5-20251001 200000 64000 1 5 0.1 1.25
anthropic/claude-haiku-5-5 1000000 128000 0.1 0.5 0.01 0.125
anthropic/claude-opus-4-5 200000 64000 5 25 0.5 6.25
anthropic/claude-opus-4-5-20251101 200000 64000 5 25 0.5 6.25
anthropic/claude-opus-4-6 1000000 128000 5 25 0.5 6.25
anthropic/claude-opus-4-7 1000000 128000 5 25 0.5 6.25
anthropic/claude-opus-4-8 1000000 128000 5 25 0.5 6.25
anthropic/claude-opus-5 1000000 128000 5 25 0.5 6.25
anthropic/claude-opus-5-5 1000000 128000 4 20 0.2 5
anthropic/claude-sonnet-4-5 200000 64000 3 15 0.3 3.75
anthropic/claude-sonnet-4-5-20250929 200000 64000 3 15 0.3 3.75
anthropic/claude-sonnet-4-6 1000000 128000 3 15 0.3 3.75
anthropic/claude-sonnet-5 1000000 128000 2 10 0.2 2.5
anthropic/claude-sonnet-5-5 1000000 128000 2 10 0.1 2.5
deepseek/deepseek-flash 1000000 384000 0.3 1.2 0.006
deepseek/deepseek-v4-pro 1000000 384000 1.32 3.96 0.044
google/deep-research-max-preview-04-2026 131072 65536 2 12 0.2
google/deep-research-preview-04-2026 131072 65536 2 12 0.2
google/gemini-2.5-computer-use-preview-10-2025 128000 64000 1.25 10
google/gemini-2.5-flash 1048576 65536 0.3 2.5 0.03
google/gemini-2.5-flash-lite 1048576 65536 0.1 0.4 0.01
google/gemini-2.5-pro 1048576 65536 1.25 10 0.125
google/gemini-3-flash-preview 1048576 65536 0.5 3 0.05
google/gemini-3.1-flash-lite 1048576 65536 0.25 1.5 0.025
google/gemini-3.1-flash-lite-preview 1048576 65536 0.25 1.5 0.025
google/gemini-3.1-pro-preview 1048576 65536 2 12 0.2
google/gemini-3.1-pro-preview-customtools 1048576 65536 2 12 0.2
google/gemini-3.5-flash 1048576 65536 1.5 9 0.15
google/gemini-3.5-flash-lite 1048576 65536 0.3 2.5 0.03
google/gemini-3.6-flash 1048576 65536 0.75 3.75 0.075
google/gemini-3.7-flash 1048576 65536 0.75 3.75 0.075
google/gemini-3.8-flash 1048576 65536 0.75 3.75 0.075
google/gemini-4-argon 1048576 32768 2 10 0.1
google/gemini-flash-latest 1048576 65536 1.5 9 0.15
google/gemini-flash-lite-latest 1048576 65536 0.25 1.5 0.025
google/gemini-pro-latest 1048576 65536 2 12 0.2
google/gemini-robotics-er-2-preview 131072 65536 1 5 0.1
google/gemma-4-26b-a4b-it 262144 32768 0 0 0 0
google/gemma-4-31b-it 262144 32768 0 0 0 0
groq/llama-3.1-8b-instant 131072 131072 0.05 0.08
groq/llama-3.3-70b-versatile 131072 32768 0.59 0.79
groq/openai/gpt-oss-120b 131072 65536 0.15 0.6 0.075
groq/openai/gpt-oss-20b 131072 65536 0.075 0.3 0.0375
groq/openai/gpt-oss-safeguard-20b 131072 65536 0.075 0.3 0.0375
groq/qwen/qwen3.6-27b 131072 16384 0.6 3 0.3
groq/qwen/qwen3.8-27b 131072 16384 0.8 4
mistral/codestral-2508 256000 8192 0.3 0.9 0.03
mistral/codestral-latest 256000 4096 0.3 0.9 0.03
mistral/deepseek-v4-1-flash-1017 1048576 128000 0.3 1.2 0.007
mistral/devstral-2512 262144 262144 0.4 2 0.04
mistral/devstral-latest 262144 262144 0.4 2 0.04
mistral/devstral-medium-latest 262144 262144 0.4 2 0.04
mistral/glm-5-2 1048576 131072 1.4 4.4 0.14
mistral/labs-devstral-small-2512 256000 256000 0 0 0 0
mistral/labs-leanstral-1-5-1 262144 128000 0 0 0 0
mistral/magistral-medium-latest 262144 16384 2 5 0.2
mistral/ministral-14b-2512 262144 262144 0.2 0.2 0.02
mistral/ministral-3b-2512 131072 131072 0.1 0.1 0.01
mistral/ministral-3b-latest 131072 128000 0.1 0.1 0.01
mistral/ministral-8b-2512 262144 262144 0.15 0.15 0.015
mistral/ministral-8b-latest 262144 128000 0.15 0.15 0.015
mistral/mistral-large-2512 262144 262144 0.5 1.5 0.05
mistral/mistral-large-4 1048576 262144 0.7 2.1 0.07
mistral/mistral-large-4-0-8 1048576 262144 0.7 2.1 0.07
mistral/mistral-large-latest 262144 262144 0.5 1.5 0.05
mistral/mistral-medium-2505 131072 131072 0.4 2 0.04
mistral/mistral-medium-2508 262144 262144 0.4 2 0.04
mistral/mistral-medium-2604 262144 262144 1.5 7.5 0.15
mistral/mistral-medium-3.5 262144 262144 1.5 7.5
mistral/mistral-medium-latest 262144 262144 1.5 7.5 0.15
mistral/mistral-small-2506 128000 16384 0.1 0.3 0.01
mistral/mistral-small-2603 262144 256000 0.15 0.6 0.015
mistral/mistral-small-latest 262144 256000 0.15 0.6 0.015
mistral/open-mistral-nemo 128000 128000 0.15 0.15 0.015
mistral/pixtral-12b 128000 128000 0.15 0.15 0.015
mistral/voxtral-small-2507 32768 32000 0.1 0.4 0.01
mistral/voxtral-small-latest 32768 32000 0.1 0.4 0.01
mistral/zai-glm-5-2 1048576 131072 1.4 4.4 0.14
mistral/zai-glm-5-3 1048576 131072 1.4 4.4 0.14
mistral/zai-glm-5-3-flash 1048576 131072 0.15 0.5 0.03
openai/chat-latest 400000 128000 5 30 0.5
openai/gpt-4 8192 8192 30 60
openai/gpt-4-turbo 128000 4096 10 30
openai/gpt-4.1 1047576 32768 2 8 0.5
openai/gpt-4.1-mini 1047576 32768 0.4 1.6 0.1
openai/gpt-4.1-nano 1047576 32768 0.1 0.4 0.025
openai/gpt-4o 128000 16384 2.5 10 1.25
openai/gpt-4o-2024-05-13 128000 4096 5 15
openai/gpt-4o-2024-08-06 128000 16384 2.5 10 1.25
openai/gpt-4o-2024-11-20 128000 16384 2.5 10 1.25
openai/gpt-4o-mini 128000 16384 0.15 0.6 0.075
openai/gpt-5 400000 128000 1.25 10 0.125
openai/gpt-5-chat-latest 128000 16384 1.25 10 0.125
openai/gpt-5-mini 400000 128000 0.25 2 0.025
openai/gpt-5-nano 400000 128000 0.05 0.4 0.005
openai/gpt-5-pro 400000 128000 15 120
openai/gpt-5.1 400000 128000 1.25 10 0.125
openai/gpt-5.2 400000 128000 1.75 14 0.175
openai/gpt-5.2-pro 400000 128000 21 168
openai/gpt-5.3-codex 400000 128000 1.75 14 0.175
openai/gpt-5.3-codex-spark 128000 32000 1.75 14 0.175
openai/gpt-5.4 272000 128000 2.5 15 0.25
openai/gpt-5.4-mini 400000 128000 0.75 4.5 0.075
openai/gpt-5.4-nano 400000 128000 0.2 1.25 0.02
openai/gpt-5.4-pro 1050000 128000 30 180
openai/gpt-5.5 272000 128000 5 30 0.5
openai/gpt-5.5-pro 1050000 128000 30 180
openai/gpt-5.6-cyber 400000 128000 12.5 75 1.25 15.625
openai/gpt-5.6-luna 272000 128000 0.2 1.2 0.02 0.25
openai/gpt-5.6-sol 272000 128000 4 20 0.4 5
openai/gpt-5.6-terra 272000 128000 2 12 0.2 2.5
openai/gpt-6-astra 272000 128000 10 50 1 12.5
openai/gpt-6-luna 272000 128000 0.1 0.5 0.01 0.125
openai/gpt-6-sol 272000 128000 2 10 0.2 2.5
openai/gpt-6.1-sol 272000 128000 2 10 0.1 2.5
openai/gpt-6.1-terra 272000 128000 1 5 0.05 1.25
openai/gpt-daybreak-blue-latest 1050000 128000 4 20 0.4 5
openai/gpt-daybreak-red-latest 400000 128000 12.5 75 1.25 15.625
openai/o1 200000 100000 15 60 7.5
openai/o1-pro 200000 100000 150 600
openai/o3 200000 100000 2 8 0.5
openai/o3-mini 200000 100000 1.1 4.4 0.55
openai/o3-pro 200000 100000 20 80
openai/o4-mini 200000 100000 1.1 4.4 0.275
openrouter/aion-labs/aion-2.0 131072 32768 0.8 1.6 0.2
openrouter/aion-labs/aion-3.0 131072 32768 3 6 0.75
openrouter/aion-labs/aion-3.0-mini 131072 32768 0.7 1.4 0.18
openrouter/aion-labs/aion-3.5 262144 32768 3 6 0.75
openrouter/aion-labs/aion-3.5-mini 262144 32768 0.7 1.4 0.18
openrouter/amazon/nova-2-lite-v1 1000000 65535 0.3 2.5
openrouter/amazon/nova-lite-v1 300000 5120 0.06 0.24
openrouter/amazon/nova-micro-v1 128000 5120 0.035 0.14
openrouter/amazon/nova-premier-v1 1000000 32000 2.5 12.5 0.625
openrouter/amazon/nova-pro-v1 300000 5120 0.8 3.2
openrouter/anthropic/claude-fable-5 1000000 128000 10 50 1 12.5
openrouter/anthropic/claude-fable-5.1 1000000 128000 10 50 0.25 12.5
openrouter/anthropic/claude-haiku-4.5 200000 64000 1 5 0.1 1.25
openrouter/anthropic/claude-haiku-5.5 1000000 128000 0.1 0.5 0.01 0.125
openrouter/anthropic/claude-opus-4.1 200000 32000 15 75 1.5 18.75
openrouter/anthropic/claude-opus-4.5 200000 64000 5 25 0.5 6.25
openrouter/anthropic/claude-opus-4.6 1000000 128000 5 25 0.5 6.25
openrouter/anthropic/claude-opus-4.7 1000000 128000 5 25 0.5 6.25
openrouter/anthropic/claude-opus-4.8 1000000 128000 5 25 0.5 6.25
openrouter/anthropic/claude-opus-5 1000000 128000 5 25 0.5 6.25
openrouter/anthropic/claude-opus-5.5 1000000 128000 4 20 0.2 5
openrouter/anthropic/claude-sonnet-4.5 1000000 64000 3 15 0.3 3.75
openrouter/anthropic/claude-sonnet-4.6 1000000 128000 3 15 0.3 3.75
openrouter/anthropic/claude-sonnet-5 1000000 128000 2 10 0.2 2.5
openrouter/anthropic/claude-sonnet-5.5 1000000 128000 2 10 0.1 2.5
openrouter/auto 2000000 30000 0 0 0 0
openrouter/bytedance-seed/seed-1.6 262144 32768 0.25 2
openrouter/bytedance-seed/seed-1.6-flash 262144 32768 0.075 0.3
openrouter/bytedance-seed/seed-2-1-turbo 262144 235929 0.5 2.5
openrouter/bytedance-seed/seed-2.0-code 262144 131072 0.5 3
openrouter/bytedance-seed/seed-2.0-lite 262144 131072 0.25 2
openrouter/bytedance-seed/seed-2.0-mini 262144 131072 0.1 0.4
openrouter/cohere/command-a-plus 192000 64000 0.3 1.5 0.15
openrouter/cohere/command-r-08-2024 128000 4000 0.15 0.6
openrouter/cohere/command-r-plus-08-2024 128000 4000 2.5 10
openrouter/cohere/north-mini-code:free 256000 64000 0 0 0 0
openrouter/deepseek/deepseek-chat 128000 16000 0.2574 1.0287
openrouter/deepseek/deepseek-chat-v3-0324 128000 115200 0.29 1.14 0.11
openrouter/deepseek/deepseek-chat-v3.1 163840 147456 0.25 0.95 0.13
openrouter/deepseek/deepseek-r1-0528 163840 32768 0.5 2.15 0.35
openrouter/deepseek/deepseek-v3.1-terminus 163840 147456 0.27 1
openrouter/deepseek/deepseek-v3.2 163840 147456 0.26 0.38 0.13
openrouter/deepseek/deepseek-v3.2-exp 163840 147456 0.27 0.41
openrouter/deepseek/deepseek-v4-flash 1048575 943717 0.091 0.182 0.0182
openrouter/deepseek/deepseek-v4-flash-0731 1048576 943718 0.119 0.238 0.0238
openrouter/deepseek/deepseek-v4-flash-vision-exp 1048576 262144 0.2156 0.6468 0.00686
openrouter/deepseek/deepseek-v4-pro 1048576 393216 1.6 3.2 0.135
openrouter/deepseek/deepseek-v4-pro-0813 1048576 943718 0.115 4 0.11
openrouter/deepseek/deepseek-v4.1-flash 1048576 943718 0.045 0.5 0.006
openrouter/deepseek/deepseek-v4.1-flash-1017 1048576 393216 0.15 0.6 0.003
openrouter/dots-studio/dots-3-note-preview:free 512000 460800 0 0 0 0
openrouter/elorian/glimpse 262144 256000 0.6 3 0.06
openrouter/fireworks/ember-1 1048576 943718 3 15 0.3
openrouter/google/gemini-2.5-flash 1048576 65535 0.3 2.5 0.03 0.083333
openrouter/google/gemini-2.5-flash-lite 1048576 65535 0.1 0.4 0.01 0.083333
openrouter/google/gemini-2.5-pro 1048576 65536 1.25 10 0.125 0.375
openrouter/google/gemini-2.5-pro-preview 1048576 65536 1.25 10 0.125 0.375
openrouter/google/gemini-3-flash-preview 1048576 65536 0.5 3 0.05 0.083333
openrouter/google/gemini-3-pro-image 65536 32768 2 12 0.2 0.375
openrouter/google/gemini-3.1-flash-lite 1048576 65536 0.25 1.5 0.025 0.083333
openrouter/google/gemini-3.1-flash-lite-preview 1048576 65536 0.25 1.5 0.025 0.083333
openrouter/google/gemini-3.1-pro-preview 1048576 65536 2 12 0.2 0.375
openrouter/google/gemini-3.1-pro-preview-customtools 1048576 65536 2 12 0.2 0.375
openrouter/google/gemini-3.5-flash 1048576 65536 1.5 9 0.15 0.083333
openrouter/google/gemini-3.5-flash-lite 1048576 65536 0.3 2.5 0.03 0.083333
openrouter/google/gemini-3.6-flash 1048576 65536 0.75 3.75 0.075 0.041667
openrouter/google/gemini-3.7-flash 1048576 65536 0.75 3.75 0.075 0.041667
openrouter/google/gemini-3.8-flash 1048576 65536 0.825 4.125 0.0825 0.041667
openrouter/google/gemini-4-argon 1048576 943718 2 10 0.1 0.1875
openrouter/google/gemini-nano-banana-2.1 65536 58982 1.5 7.5
openrouter/google/gemma-3-12b-it 131072 16384 0.05 0.15
openrouter/google/gemma-3-27b-it 131072 117964 0.08 0.35 0.04
openrouter/google/gemma-4-26b-a4b-it 262144 32768 0.074 0.223 0.037
openrouter/google/gemma-4-26b-a4b-it:free 262144 32768 0 0 0 0
openrouter/google/gemma-4-31b-it 262144 16384 0.2 0.4
openrouter/google/gemma-4-31b-it:free 262144 32768 0 0 0 0
openrouter/ibm-granite/granite-4.2-8b 131072 117964 0.06 0.15 0.015
openrouter/inception/mercury-2 128000 50000 0.25 0.75 0.025
openrouter/inception/mercury-2.5 260000 65536 0.04 0.15 0.004
openrouter/inception/mercury-3 1000000 131072 0.1 0.35 0.01
openrouter/inclusionai/ling-3.0-flash 262144 32768 0.021 0.063 0.0042
openrouter/inclusionai/ling-3.0-flash-vl 131072 32768 0.06 0.18 0.012
openrouter/inclusionai/ling-3.1-flash 1000000 262144 0.075 0.225 0.015
openrouter/liquid/lfm-2.5-2.6b 128000 8192 0.35 0.5 0.04
openrouter/liquid/lfm-2.5-2.6b:free 65536 8192 0 0 0 0
openrouter/liquid/lfm-2.5-24b-a2b 128000 8192 0.05 0.7 0.025
openrouter/meituan/longcat-2.0 1048756 262144 0.3 1.2 0.006
openrouter/meta-llama/llama-3.1-70b-instruct 131072 16384 0.4 0.4
openrouter/meta-llama/llama-3.1-8b-instruct 131072 117964 0.05 0.08 0.025
openrouter/meta-llama/llama-3.3-70b-instruct 131072 16384 0.1 0.32
openrouter/meta-llama/llama-4-maverick 128000 16384 0.1875 0.6525 0.05
openrouter/meta-llama/llama-4-scout 327680 16384 0.1 0.3
openrouter/meta/muse-glimmer-30b 131072 16384 0.3 1.2 0.04
openrouter/meta/muse-spark-1.1 1048576 943718 1.25 4.25 0.15
openrouter/meta/muse-spark-1.2 1048576 943718 1.25 4.25 0.15
openrouter/meta/muse-spark-1.2-contributor 1048576 943718 0.1 0.2 0.002
openrouter/meta/muse-spark-1.3 1048576 943718 1.25 4.25 0.15
openrouter/meta/muse-spark-1.3-contributor 1048576 943718 0.1 0.2 0.002
openrouter/meta/muse-spark-open 1048576 943718 1.25 4.25 0.15
openrouter/meta/muse-wonder 1048576 943718 4 20 0.2
openrouter/minimax/minimax-m1 1000000 40000 0.55 2.2
openrouter/minimax/minimax-m2 204800 131072 0.255 1.02
openrouter/minimax/minimax-m2.1 204800 131072 0.3 1.2 0.03
openrouter/minimax/minimax-m2.5 198000 32768 0.27 0.95 0.03
openrouter/minimax/minimax-m2.7 204800 131072 0.3 1.2 0.06
openrouter/minimax/minimax-m3 524288 512000 0.3 1.2 0.06
openrouter/minimax/minimax-m3.1-flash 1048576 524288 0.15 0.6 0.015
openrouter/mistralai/codestral-2508 256000 204800 0.3 0.9 0.03
openrouter/mistralai/devstral-2512 262144 209715 0.4 2 0.04
openrouter/mistralai/ministral-14b-2512 262144 209715 0.2 0.2 0.02
openrouter/mistralai/ministral-3b-2512 131072 104857 0.1 0.1 0.01
openrouter/mistralai/ministral-8b-2512 262144 209715 0.15 0.15 0.015
openrouter/mistralai/mistral-large 128000 102400 2 6 0.2
openrouter/mistralai/mistral-large-2407 131072 104857 2 6 0.2
openrouter/mistralai/mistral-large-2512 262144 209715 0.5 1.5 0.05
openrouter/mistralai/mistral-large-4-0 1048576 262144 0.7 2.1 0.07
openrouter/mistralai/mistral-medium-3 131072 104857 0.4 2 0.04
openrouter/mistralai/mistral-medium-3-5 262144 209715 1.5 7.5
openrouter/mistralai/mistral-medium-3.1 131072 104857 0.4 2 0.04
openrouter/mistralai/mistral-nemo 131072 16384 0.029 0.03
openrouter/mistralai/mistral-saba 32768 26214 0.2 0.6 0.02
openrouter/mistralai/mistral-small-2603 262144 209715 0.15 0.6 0.015
openrouter/mistralai/mistral-small-3.1-24b-instruct 128000 102400 0.351 0.555
openrouter/mistralai/mistral-small-3.2-24b-instruct 128000 16384 0.075 0.2
openrouter/mistralai/mixtral-8x22b-instruct 65536 52428 2 6 0.2
openrouter/mistralai/voxtral-small-24b-2507 32768 26214 0.1 0.3 0.01
openrouter/moonshotai/kimi-k2 131072 98304 0.57 2.3
openrouter/moonshotai/kimi-k2-0905 262144 98304 0.6 2.5
openrouter/moonshotai/kimi-k2-thinking 262144 98304 0.6 2.5 0.15
openrouter/moonshotai/kimi-k2.5 262144 4096 0.41 2.06 0.07
openrouter/moonshotai/kimi-k2.6 262144 235929 0.65 3.41 0.15
openrouter/moonshotai/kimi-k2.7-code 262144 235929 0.6 3.5 0.15
openrouter/moonshotai/kimi-k3 1048576 131072 0.192 15 0.182
openrouter/moonshotai/kimi-k3.1-pro 1048576 131072 2 10 0.2
openrouter/nex-agi/nex-n2.5-pro 262144 235929 0.075 0.25 0.015
openrouter/nvidia/nemotron-3-nano-30b-a3b 262144 235929 0.06 0.24 0.012
openrouter/nvidia/nemotron-3-nano-omni-30b-a3b-reasoning:free 256000 65536 0 0 0 0
openrouter/nvidia/nemotron-3-super-120b-a12b 1048576 262144 0.3 2.4 0.15
openrouter/nvidia/nemotron-3-ultra-550b-a55b 202800 182520 0.6 2.4 0.12
openrouter/nvidia/nemotron-3-ultra-550b-a55b:free 1000000 65536 0 0 0 0
openrouter/nvidia/nemotron-3.5-lightning 262144 235929 0.07 0.2 0.04
openrouter/nvidia/nemotron-3.5-lightning:free 1000000 65536 0 0 0 0
openrouter/nvidia/nemotron-3.5-super-vl 262144 235929 0.15 0.5 0.02
openrouter/nvidia/nemotron-3.5-super-vl:free 1000000 131072 0 0 0 0
openrouter/openai/gpt-3.5-turbo-0613 4095 3685 1 2
openrouter/openai/gpt-3.5-turbo-16k 16385 4096 3 4
openrouter/openai/gpt-4 8191 4096 30 60
openrouter/openai/gpt-4.1 1047576 32768 2 8 0.5
openrouter/openai/gpt-4.1-mini 1047576 32768 0.4 1.6 0.1
openrouter/openai/gpt-4.1-nano 1047576 942818 0.1 0.4 0.03
openrouter/openai/gpt-4o 128000 16384 2.5 10 1.25
openrouter/openai/gpt-4o-2024-05-13 128000 4096 5 15
openrouter/openai/gpt-4o-2024-08-06 128000 16384 2.5 10 1.25
openrouter/openai/gpt-4o-2024-11-20 128000 16384 2.5 10 1.25
openrouter/openai/gpt-4o-mini 128000 16384 0.15 0.6 0.075
openrouter/openai/gpt-4o-mini-2024-07-18 128000 16384 0.15 0.6 0.075
openrouter/openai/gpt-5 400000 128000 1.25 10 0.125
openrouter/openai/gpt-5-mini 400000 128000 0.25 2 0.025
openrouter/openai/gpt-5-nano 400000 128000 0.05 0.4 0.005
openrouter/openai/gpt-5-pro 400000 128000 15 120
openrouter/openai/gpt-5.1 400000 128000 1.25 10 0.125
openrouter/openai/gpt-5.1-codex 400000 128000 1.25 10 0.13
openrouter/openai/gpt-5.1-codex-max 400000 128000 1.25 10 0.125
openrouter/openai/gpt-5.1-codex-mini 400000 128000 0.25 2 0.03
openrouter/openai/gpt-5.2 400000 128000 1.75 14 0.175
openrouter/openai/gpt-5.2-chat 128000 32000 1.75 14 0.175
openrouter/openai/gpt-5.2-codex 400000 128000 1.75 14 0.175
openrouter/openai/gpt-5.2-pro 400000 128000 21 168
openrouter/openai/gpt-5.3-codex 400000 128000 1.75 14 0.175
openrouter/openai/gpt-5.4 1050000 128000 2.5 15 0.25
openrouter/openai/gpt-5.4-mini 400000 128000 0.75 4.5 0.075
openrouter/openai/gpt-5.4-nano 400000 128000 0.2 1.25 0.02
openrouter/openai/gpt-5.4-pro 1050000 128000 30 180
openrouter/openai/gpt-5.5 1050000 128000 5 30 0.5
openrouter/openai/gpt-5.5-pro 1050000 128000 30 180
openrouter/openai/gpt-5.6-luna 1050000 128000 0.2 1.2 0.02 0.25
openrouter/openai/gpt-5.6-luna-pro 1050000 128000 0.2 1.2 0.02 0.25
openrouter/openai/gpt-5.6-sol 1050000 128000 4 20 0.4 5
openrouter/openai/gpt-5.6-sol-pro 1050000 128000 4 20 0.4 5
openrouter/openai/gpt-5.6-terra 1050000 128000 2 12 0.2 2.5
openrouter/openai/gpt-5.6-terra-pro 1050000 128000 2 12 0.2 2.5
openrouter/openai/gpt-6-astra 1050000 128000 10 50 1 12.5
openrouter/openai/gpt-6-astra-pro 1050000 128000 10 50 1 12.5
openrouter/openai/gpt-6-luna 1050000 128000 0.1 0.5 0.01 0.125
openrouter/openai/gpt-6-luna-pro 1050000 128000 0.1 0.5 0.01 0.125
openrouter/openai/gpt-6-sol 1050000 128000 2 10 0.2 2.5
openrouter/openai/gpt-6-sol-pro 1050000 128000 2 10 0.2 2.5
openrouter/openai/gpt-6.1-sol 1050000 128000 2 10 0.1 2.5
openrouter/openai/gpt-6.1-sol-pro 1050000 128000 2 10 0.1 2.5
openrouter/openai/gpt-6.1-terra 1050000 128000 1 5 0.05 1.25
openrouter/openai/gpt-6.1-terra-pro 1050000 128000 1 5 0.05 1.25
openrouter/openai/gpt-audio 128000 16384 2.5 10
openrouter/openai/gpt-audio-mini 128000 16384 0.6 2.4
openrouter/openai/gpt-chat-latest 400000 128000 5 30 0.5
openrouter/openai/gpt-oss-120b 131072 65536 0.15 0.6 0.075
openrouter/openai/gpt-oss-20b 131072 117964 0.03 0.13 0.03
openrouter/openai/gpt-oss-safeguard-20b 131072 65536 0.075 0.3 0.0375
openrouter/openai/o3 200000 100000 2 8 0.5
openrouter/openai/o3-pro 200000 100000 20 80
openrouter/openrouter/auto 2000000 4096 0 0 0 0
openrouter/openrouter/auto-beta 2000000 65536 0 0 0 0
openrouter/openrouter/free 200000 4096 0 0 0 0
openrouter/openrouter/fusion 1000000 30000 0 0 0 0
openrouter/openrouter/pareto-code 2000000 4096 0 0 0 0
openrouter/particle-ai/particle-1 1048576 131072 0.05 0.5 0.003
openrouter/perceptron/perceptron-mk1.5 36864 8192 0.15 1.5
openrouter/prism-ml/ternary-bonsai-2-27b 262144 32768 0.075 0.5 0.0375
openrouter/prism-ml/ternary-bonsai-2-9b 262144 65536 0.08 0.13 0.04
openrouter/qwen/qwen-2.5-72b-instruct 32768 16384 0.36 0.4
openrouter/qwen/qwen-2.5-7b-instruct 32768 29491 0.1 0.2
openrouter/qwen/qwen-plus 1000000 32768 0.26 0.78 0.052 0.325
openrouter/qwen/qwen3-14b 40960 16384 0.12 0.24
openrouter/qwen/qwen3-235b-a22b-2507 262144 16384 0.09 0.55
openrouter/qwen/qwen3-235b-a22b-thinking-2507 128000 16384 0.45 3.5
openrouter/qwen/qwen3-30b-a3b 40960 16384 0.12 0.5
openrouter/qwen/qwen3-30b-a3b-instruct-2507 262144 235929 0.1 0.3 0.1
openrouter/qwen/qwen3-32b 40960 16384 0.08 0.28
openrouter/qwen/qwen3-coder 262144 65536 0.3 1 0.1
openrouter/qwen/qwen3-coder-30b-a3b-instruct 262144 235929 0.07 0.28
openrouter/qwen/qwen3-coder-flash 1000000 65536 0.195 0.975 0.039 0.24375
openrouter/qwen/qwen3-coder-next 262144 235929 0.12 0.8 0.07
openrouter/qwen/qwen3-next-80b-a3b-instruct 262144 16384 0.09 1.1
openrouter/qwen/qwen3-vl-235b-a22b-instruct 131072 32768 0.21 1.9 0.1
openrouter/qwen/qwen3-vl-30b-a3b-instruct 262144 16384 0.15 0.6
openrouter/qwen/qwen3-vl-30b-a3b-thinking 262144 235929 0.29 1
openrouter/qwen/qwen3-vl-8b-instruct 262144 235929 0.25 0.75 0.12
openrouter/qwen/qwen3.5-122b-a10b 262144 65536 0.26 2.08
openrouter/qwen/qwen3.5-27b 262144 81920 0.26 2.6
openrouter/qwen/qwen3.5-35b-a3b 262144 81920 0.14 1 0.05
openrouter/qwen/qwen3.5-397b-a17b 262144 235929 0.5 3.6 0.3
openrouter/qwen/qwen3.5-9b 262144 235929 0.17 0.25
openrouter/qwen/qwen3.5-flash-02-23 1000000 65536 0.065 0.26
openrouter/qwen/qwen3.5-plus-02-15 1000000 65536 0.26 1.56
openrouter/qwen/qwen3.5-plus-20260420 1000000 65536 0.3 1.8 - 0.375
openrouter/qwen/qwen3.6-27b 262144 65536 0.45 2.7
openrouter/qwen/qwen3.6-35b-a3b 262144 235929 0.1 0.9 0.025
openrouter/qwen/qwen3.6-flash 1000000 65536 0.1875 1.125 - 0.234375
openrouter/qwen/qwen3.6-plus 1000000 65536 0.325 1.95 - 0.40625
openrouter/qwen/qwen3.7-flash 1000000 65536 0.03 0.13 0.006 0.038
openrouter/qwen/qwen3.7-max 1000000 131072 1.475 4.425 0.295 1.84375
openrouter/qwen/qwen3.7-plus 1000000 131072 0.32 1.28 0.064 0.4
openrouter/qwen/qwen3.8-2.4t-a95b 1000000 131072 2 6 0.25
openrouter/qwen/qwen3.8-27b 262144 235929 0.15 1.875 0.0375
openrouter/qwen/qwen3.8-flash 1000000 131072 0.15 0.47 0.016
openrouter/qwen/qwen3.8-max-0902 1000000 131072 2 6 0.25
openrouter/qwen/qwen3.8-max-prime 1000000 131072 4 12 0.5
openrouter/qwen/qwen3.8-omni-flash 1000000 131072 0.15 0.47 0.016
openrouter/recursive/flint-v1.0:free 262144 235929 0 0 0 0
openrouter/reflection/beam-1.0-501b-a23b 1048576 131072 0.25 1 0.05
openrouter/rekaai/reka-edge 16384 14745 0.1 0.1
openrouter/relace/relace-search 256000 128000 1 3
openrouter/sakana/fugu-max 1000000 128000 2 6 0.25
openrouter/sakana/fugu-ultra 1000000 128000 5 30 0.5
openrouter/sakana/fugu-ultra-v2 1000000 128000 5 30 0.5
openrouter/sakana/sakana-namazu 262144 65536 0.95 4 0.15
openrouter/stepfun/step-3.5-flash 262144 65536 0.1 0.3
openrouter/stepfun/step-3.7-flash 256000 230400 0.2 1.15 0.04
openrouter/stepfun/step-5-preview 1000000 64000 1 2.7 0.1
openrouter/tencent/hy3 262144 128000 0.132 0.528 0.033
openrouter/tencent/hy3-preview 262144 235929 0.18 0.6 0.06
openrouter/tencent/hy4-preview 1048576 64000 0.834 2.501 0.042
openrouter/thinkingmachines/inkling 524288 471859 1 4.05 0.17
openrouter/thinkingmachines/inkling-small 524288 262144 0.45 1.2 0.1
openrouter/thinkingmachines/inkling-small:free 1048576 262144 0 0 0 0
openrouter/thinkingmachines/inkling:free 1048576 262144 0 0 0 0
openrouter/typesafe/jev-router 1000000 65536 0 0 0 0
openrouter/unbiased/pareto-26.10 1048576 131072 0.8 3.2 0.03
openrouter/unbiased/pareto-26.9 262144 131072 2.5 7.5 0.25
openrouter/upstage/solar-mini4 524288 131072 0.05 0.2 0.005
openrouter/upstage/solar-pro4 524288 131072 0.15 0.6 0.03
openrouter/x-ai/grok-4.20 2000000 1800000 1.25 2.5 0.2
openrouter/x-ai/grok-4.3 1000000 900000 1.25 2.5 0.2
openrouter/x-ai/grok-4.5 500000 450000 2 6 0.3
openrouter/x-ai/grok-4.6 500000 450000 2 6 0.5
openrouter/x-ai/grok-4.7 500000 450000 2 6 0.5
openrouter/x-ai/grok-build-0.1 256000 230400 1 2 0.2
openrouter/xiaomi/mimo-v2.5 1000000 65536 0.4 2 0.08
openrouter/xiaomi/mimo-v2.5-pro 262144 235929 0.48 1.8 0.096
openrouter/xiaomi/mimo-v2.6-flash 1048576 131072 0.14 0.28 0.0028
openrouter/xiaomi/mimo-v2.6-pro 1048576 131072 0.435 0.87 0.0036
openrouter/xiaomi/mimo-v2.6-pro-ultraspeed 1048576 131072 4.35 8.7 0.036
openrouter/xingchen-agi/xing4.0-29b-a4b:free 262144 235929 0 0 0 0
openrouter/z-ai/glm-4.5 131072 98304 0.6 2.2 0.11
openrouter/z-ai/glm-4.5-air 131072 98304 0.13 0.85 0.025
openrouter/z-ai/glm-4.5v 65536 16384 0.6 1.8 0.11
openrouter/z-ai/glm-4.6 202752 131072 0.5 2 0.1
openrouter/z-ai/glm-4.6v 131072 32768 0.3 0.9 0.055
openrouter/z-ai/glm-4.7 202752 131072 0.6 2.2 0.11
openrouter/z-ai/glm-4.7-flash 131072 117964 0.0605 0.4
openrouter/z-ai/glm-5 202752 131072 0.6 1.9 0.119
openrouter/z-ai/glm-5-turbo 202752 131072 1.2 4 0.24
openrouter/z-ai/glm-5.1 202752 131072 1.4 4.4 0.26
openrouter/z-ai/glm-5.2 1048576 943718 0.006 6.8 0.005
openrouter/z-ai/glm-5.3 1048576 943718 0.08 3.6 0.076
openrouter/z-ai/glm-5.3-flash 1048576 131072 0.0285 0.0923 0.0285
openrouter/z-ai/glm-5.3-flashx 1048576 131072 0.37 1.25 0.09
openrouter/z-ai/glm-5.3-prime 1000000 131072 2.8 8.8 0.56
openrouter/z-ai/glm-5v-turbo 202752 131072 1.2 4 0.24
openrouter/~anthropic/claude-fable-latest 1000000 128000 10 50 0.25 12.5
openrouter/~anthropic/claude-haiku-latest 1000000 128000 0.1 0.5 0.01 0.125
openrouter/~anthropic/claude-opus-latest 1000000 128000 4 20 0.2 5
openrouter/~anthropic/claude-sonnet-latest 1000000 128000 2 10 0.1 2.5
openrouter/~deepseek/deepseek-flash-latest 1048576 943718 0.035 0.5 0.005
openrouter/~deepseek/deepseek-pro-latest 1048576 393216 0.1035 8 0.1
openrouter/~deepseek/deepseek-v4-flash-latest 1048576 943718 0.059 0.3 0.035
openrouter/~google/gemini-flash-latest 1048576 65536 0.75 3.75 0.075 0.041667
openrouter/~google/gemini-pro-latest 1048576 943718 2 10 0.1 0.1875
openrouter/~moonshotai/kimi-latest 1048576 131072 0.1495 7.15 0.07475
openrouter/~openai/gpt-astra-latest 1050000 128000 10 50 1 12.5
openrouter/~openai/gpt-luna-latest 1050000 128000 0.1 0.5 0.01 0.125
openrouter/~openai/gpt-mini-latest 400000 128000 0.75 4.5 0.075
openrouter/~openai/gpt-sol-latest 1050000 128000 2 10 0.1 2.5
openrouter/~openai/gpt-terra-latest 1050000 128000 1 5 0.05 1.25
openrouter/~unbiased/pareto-latest 1048576 131072 0.8 3.2 0.03
openrouter/~x-ai/grok-latest 500000 450000 2 6 0.5
openrouter/~z-ai/glm-flash-latest 1048576 131072 0.0285 0.0923 0.0285
openrouter/~z-ai/glm-latest 1048576 943718 0.0699 1.4 0.0689
xai/grok-4.3 1000000 30000 1.25 2.5 0.2
xai/grok-4.5 500000 500000 2 6 0.3
xai/grok-4.6 500000 500000 2 6 0.5
xai/grok-4.7 500000 500000 2 6 0.5
`
