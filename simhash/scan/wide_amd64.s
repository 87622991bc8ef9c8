#include "textflag.h"

// The kernels of AVX-512, where one instruction counts the ones of a word. wide_amd64.go says what they return. A register
// holds one word of all eight codes of a block.

// How far ahead they fetch, in bytes: as those of AVX2 do.
#define ahead 4096

// func readAVX512(blocks *block, n int) uint64
TEXT ·readAVX512(SB), NOSPLIT, $0-24
	MOVQ   blocks+0(FP), SI
	MOVQ   n+8(FP), CX
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3

next:
	VPORQ 0(SI), Z0, Z0
	VPORQ 64(SI), Z1, Z1
	VPORQ 128(SI), Z2, Z2
	VPORQ 192(SI), Z3, Z3
	ADDQ  $256, SI
	DECQ  CX
	JNZ   next

	VPORQ         Z1, Z0, Z0
	VPORQ         Z3, Z2, Z2
	VPORQ         Z2, Z0, Z0
	VEXTRACTI64X4 $1, Z0, Y1
	VPOR          Y1, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPOR          X1, X0, X0
	VPSRLDQ       $8, X0, X1
	VPOR          X1, X0, X0
	VMOVQ         X0, AX
	VZEROUPPER
	MOVQ          AX, ret+16(FP)
	RET

// differ sets sum to the distances of a block's codes from the query in Z0 to Z3.
#define differ(at, sum) \
	VPXORQ   (at)(SI), Z0, sum     \
	VPXORQ   (at+64)(SI), Z1, Z8   \
	VPXORQ   (at+128)(SI), Z2, Z9  \
	VPXORQ   (at+192)(SI), Z3, Z10 \
	VPOPCNTQ sum, sum              \
	VPOPCNTQ Z8, Z8                \
	VPOPCNTQ Z9, Z9                \
	VPOPCNTQ Z10, Z10              \
	VPADDQ   Z8, sum, sum          \
	VPADDQ   Z10, Z9, Z9           \
	VPADDQ   Z9, sum, sum

// func nearerAVX512(blocks *block, n int, code *[4]uint64, distance int) int
TEXT ·nearerAVX512(SB), NOSPLIT, $0-40
	MOVQ         blocks+0(FP), SI
	MOVQ         n+8(FP), CX
	MOVQ         code+16(FP), DX
	VPBROADCASTQ 0(DX), Z0
	VPBROADCASTQ 8(DX), Z1
	VPBROADCASTQ 16(DX), Z2
	VPBROADCASTQ 24(DX), Z3
	VPBROADCASTQ distance+24(FP), Z4
	XORQ         BX, BX

next:
	PREFETCHT0 ahead+0(SI)
	PREFETCHT0 ahead+64(SI)
	PREFETCHT0 ahead+128(SI)
	PREFETCHT0 ahead+192(SI)
	differ(0, Z5)
	VPCMPQ     $1, Z4, Z5, K1 // less
	KORTESTB   K1, K1
	JNZ        done
	ADDQ       $256, SI
	INCQ       BX
	CMPQ       BX, CX
	JNE        next

done:
	VZEROUPPER
	MOVQ BX, ret+32(FP)
	RET

// func belowAVX512(blocks *[step]block, queries *[batch][4]uint64, limits *[batch]uint64, n int, next *block) uint64
//
// A turn compares one query with the eight blocks, which lie in the first cache, and fetches two lines of those to come.
TEXT ·belowAVX512(SB), NOSPLIT, $0-48
	MOVQ blocks+0(FP), SI
	MOVQ queries+8(FP), DX
	MOVQ limits+16(FP), R10
	MOVQ n+24(FP), BX
	MOVQ next+32(FP), DI
	XORQ R11, R11
	XORQ CX, CX

turn:
	PREFETCHT0   0(DI)
	PREFETCHT0   64(DI)
	ADDQ         $128, DI
	VPBROADCASTQ 0(DX), Z0
	VPBROADCASTQ 8(DX), Z1
	VPBROADCASTQ 16(DX), Z2
	VPBROADCASTQ 24(DX), Z3
	differ(0, Z5)
	differ(256, Z6)
	VPMINUD      Z6, Z5, Z5
	differ(512, Z6)
	VPMINUD      Z6, Z5, Z5
	differ(768, Z6)
	VPMINUD      Z6, Z5, Z5
	differ(1024, Z6)
	VPMINUD      Z6, Z5, Z5
	differ(1280, Z6)
	VPMINUD      Z6, Z5, Z5
	differ(1536, Z6)
	VPMINUD      Z6, Z5, Z5
	differ(1792, Z6)
	VPMINUD      Z6, Z5, Z5
	VPCMPUQ.BCST $1, (R10)(CX*8), Z5, K1 // less
	XORL         AX, AX
	KORTESTB     K1, K1
	SETNE        AX
	SHLQ         CX, AX
	ORQ          AX, R11
	ADDQ         $32, DX
	INCQ         CX
	CMPQ         CX, BX
	JNE          turn
	VZEROUPPER
	MOVQ         R11, ret+40(FP)
	RET
