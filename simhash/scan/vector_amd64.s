#include "textflag.h"

// The kernels of AVX2. Comments beside each function's declaration in vector_amd64.go say what it returns; here stands how.

// nibble holds the low four bits of each byte, count the number of ones in each value of four bits.
DATA nibble<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibble<>+8(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibble<>+16(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibble<>+24(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL nibble<>(SB), RODATA|NOPTR, $32
DATA upper<>+0(SB)/8, $0xf0f0f0f0f0f0f0f0
DATA upper<>+8(SB)/8, $0xf0f0f0f0f0f0f0f0
DATA upper<>+16(SB)/8, $0xf0f0f0f0f0f0f0f0
DATA upper<>+24(SB)/8, $0xf0f0f0f0f0f0f0f0
GLOBL upper<>(SB), RODATA|NOPTR, $32
DATA spill<>+0(SB)/8, $0x0f000f000f000f00
DATA spill<>+8(SB)/8, $0x0f000f000f000f00
DATA spill<>+16(SB)/8, $0x0f000f000f000f00
DATA spill<>+24(SB)/8, $0x0f000f000f000f00
GLOBL spill<>(SB), RODATA|NOPTR, $32
DATA count<>+0(SB)/8, $0x0302020102010100
DATA count<>+8(SB)/8, $0x0403030203020201
GLOBL count<>(SB), RODATA|NOPTR, $16

// ahead is how far ahead the kernels fetch, in bytes: a page. The processor's own prefetching ends at each page, and the
// comparison leaves it too little time to begin anew. Of 512 to 8192 bytes this is best at 1,000,000 codes (0.90 ns
// a code against 1.50 without) and near the best at 10,000,000 (1.77 against 1.93).
#define ahead 4096

// func readAVX2(blocks *block, n int) uint64
TEXT ·readAVX2(SB), NOSPLIT, $0-24
	MOVQ  blocks+0(FP), SI
	MOVQ  n+8(FP), CX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3

next:
	VPOR 0(SI), Y0, Y0
	VPOR 32(SI), Y1, Y1
	VPOR 64(SI), Y2, Y2
	VPOR 96(SI), Y3, Y3
	VPOR 128(SI), Y0, Y0
	VPOR 160(SI), Y1, Y1
	VPOR 192(SI), Y2, Y2
	VPOR 224(SI), Y3, Y3
	ADDQ $256, SI
	DECQ CX
	JNZ  next

	VPOR         Y1, Y0, Y0
	VPOR         Y3, Y2, Y2
	VPOR         Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPOR         X1, X0, X0
	VPSRLDQ      $8, X0, X1
	VPOR         X1, X0, X0
	VMOVQ        X0, AX
	VZEROUPPER
	MOVQ         AX, ret+16(FP)
	RET

// differ sets sum to the ones of each byte in which four codes' words differ from the query's word: the difference is cut
// into values of four bits, and a table of 16 bytes in a register has the ones of each. addDiffer adds them to sum.
#define differ(offset, query, sum) \
	VPXOR   offset(SI), query, Y8 \
	VPAND   Y8, Y4, Y9            \
	VPSRLW  $4, Y8, Y8            \
	VPAND   Y8, Y4, Y8            \
	VPSHUFB Y9, Y5, Y9            \
	VPSHUFB Y8, Y5, Y8            \
	VPADDB  Y9, Y8, sum

#define addDiffer(offset, query, sum) \
	VPXOR   offset(SI), query, Y8 \
	VPAND   Y8, Y4, Y9            \
	VPSRLW  $4, Y8, Y8            \
	VPAND   Y8, Y4, Y8            \
	VPSHUFB Y9, Y5, Y9            \
	VPSHUFB Y8, Y5, Y8            \
	VPADDB  Y9, sum, sum          \
	VPADDB  Y8, sum, sum

// func nearerAVX2(blocks *block, n int, code *[4]uint64, distance int) int
//
// Y10 and Y11 have the sums of lanes 0 to 3 and 4 to 7 of a block: bytes of up to 32, then words of up to 256.
TEXT ·nearerAVX2(SB), NOSPLIT, $0-40
	MOVQ           blocks+0(FP), SI
	MOVQ           n+8(FP), CX
	MOVQ           code+16(FP), DX
	VPBROADCASTQ   0(DX), Y0
	VPBROADCASTQ   8(DX), Y1
	VPBROADCASTQ   16(DX), Y2
	VPBROADCASTQ   24(DX), Y3
	VMOVDQU        nibble<>(SB), Y4
	VBROADCASTI128 count<>(SB), Y5
	VPXOR          Y6, Y6, Y6
	VPBROADCASTQ   distance+24(FP), Y7
	XORQ           BX, BX

next:
	PREFETCHT0 ahead+0(SI)
	PREFETCHT0 ahead+64(SI)
	PREFETCHT0 ahead+128(SI)
	PREFETCHT0 ahead+192(SI)
	differ(0, Y0, Y10)
	differ(32, Y0, Y11)
	addDiffer(64, Y1, Y10)
	addDiffer(96, Y1, Y11)
	addDiffer(128, Y2, Y10)
	addDiffer(160, Y2, Y11)
	addDiffer(192, Y3, Y10)
	addDiffer(224, Y3, Y11)
	VPSADBW    Y10, Y6, Y10
	VPSADBW    Y11, Y6, Y11
	VPMINUW    Y10, Y11, Y10
	VPCMPGTQ   Y10, Y7, Y10
	VPTEST     Y10, Y10
	JNZ        done
	ADDQ       $256, SI
	INCQ       BX
	CMPQ       BX, CX
	JNE        next

done:
	VZEROUPPER
	MOVQ BX, ret+32(FP)
	RET

// split stores the low and the high four bits of each byte of a register.
#define split(offset, from) \
	VPAND   nibble<>(SB), from, Y8 \
	VMOVDQU Y8, offset(DI)         \
	VPSRLW  $4, from, Y8           \
	VPAND   nibble<>(SB), Y8, Y8   \
	VMOVDQU Y8, offset+32(DI)

// func spreadAVX2(blocks *[step]block, out *nibbles)
//
// Each turn takes one word of 32 codes, eight registers of four codes, and turns them so that each register has one byte of
// all 32: bytes of two registers are interleaved, then pairs, fours and eights of them. The order of the codes in
// a register does not matter, since it is the same in all.
TEXT ·spreadAVX2(SB), NOSPLIT, $0-16
	MOVQ blocks+0(FP), SI
	MOVQ out+8(FP), DI
	MOVQ $2, BX

half:
	MOVQ $4, CX

word:
	VMOVDQU     0(SI), Y0
	VMOVDQU     32(SI), Y1
	VMOVDQU     256(SI), Y2
	VMOVDQU     288(SI), Y3
	VMOVDQU     512(SI), Y4
	VMOVDQU     544(SI), Y5
	VMOVDQU     768(SI), Y6
	VMOVDQU     800(SI), Y7
	VPUNPCKLBW  Y1, Y0, Y8
	VPUNPCKLBW  Y3, Y2, Y9
	VPUNPCKLBW  Y5, Y4, Y10
	VPUNPCKLBW  Y7, Y6, Y11
	VPUNPCKHBW  Y1, Y0, Y12
	VPUNPCKHBW  Y3, Y2, Y13
	VPUNPCKHBW  Y5, Y4, Y14
	VPUNPCKHBW  Y7, Y6, Y15
	VPUNPCKLWD  Y9, Y8, Y0       // bytes 0 to 3 of eight codes
	VPUNPCKHWD  Y9, Y8, Y1       // bytes 4 to 7
	VPUNPCKLWD  Y11, Y10, Y2
	VPUNPCKHWD  Y11, Y10, Y3
	VPUNPCKLWD  Y13, Y12, Y4
	VPUNPCKHWD  Y13, Y12, Y5
	VPUNPCKLWD  Y15, Y14, Y6
	VPUNPCKHWD  Y15, Y14, Y7
	VPUNPCKLDQ  Y2, Y0, Y8       // bytes 0 and 1 of 16 codes
	VPUNPCKHDQ  Y2, Y0, Y9       // 2 and 3
	VPUNPCKLDQ  Y3, Y1, Y10      // 4 and 5
	VPUNPCKHDQ  Y3, Y1, Y11      // 6 and 7
	VPUNPCKLDQ  Y6, Y4, Y12
	VPUNPCKHDQ  Y6, Y4, Y13
	VPUNPCKLDQ  Y7, Y5, Y14
	VPUNPCKHDQ  Y7, Y5, Y15
	VPUNPCKLQDQ Y12, Y8, Y0      // byte 0 of all 32, and so on
	VPUNPCKHQDQ Y12, Y8, Y1
	VPUNPCKLQDQ Y13, Y9, Y2
	VPUNPCKHQDQ Y13, Y9, Y3
	VPUNPCKLQDQ Y14, Y10, Y4
	VPUNPCKHQDQ Y14, Y10, Y5
	VPUNPCKLQDQ Y15, Y11, Y6
	VPUNPCKHQDQ Y15, Y11, Y7
	split(0, Y0)
	split(64, Y1)
	split(128, Y2)
	split(192, Y3)
	split(256, Y4)
	split(320, Y5)
	split(384, Y6)
	split(448, Y7)
	ADDQ        $64, SI          // the next word of the same blocks
	ADDQ        $512, DI
	DECQ        CX
	JNZ         word
	ADDQ        $768, SI         // the next four blocks
	DECQ        BX
	JNZ         half
	VZEROUPPER
	RET

// look sets Y8 to Y11 to what the tables of two pairs of queries have for value j of four bits of 2 x 32 codes; addLook adds it.
#define look(j) \
	VMOVDQU        (j*32)(R8), Y12      \
	VMOVDQU        (j*32+2048)(R8), Y13 \
	VBROADCASTI128 (j*16)(R9), Y14      \
	VPSHUFB        Y12, Y14, Y8         \
	VPSHUFB        Y13, Y14, Y9         \
	VBROADCASTI128 (j*16+1024)(R9), Y14 \
	VPSHUFB        Y12, Y14, Y10        \
	VPSHUFB        Y13, Y14, Y11

#define addLook(j) \
	VMOVDQU        (j*32)(R8), Y12      \
	VMOVDQU        (j*32+2048)(R8), Y13 \
	VBROADCASTI128 (j*16)(R9), Y14      \
	VPSHUFB        Y12, Y14, Y15        \
	VPADDB         Y15, Y8, Y8          \
	VPSHUFB        Y13, Y14, Y14        \
	VPADDB         Y14, Y9, Y9          \
	VBROADCASTI128 (j*16+1024)(R9), Y14 \
	VPSHUFB        Y12, Y14, Y15        \
	VPADDB         Y15, Y10, Y10        \
	VPSHUFB        Y13, Y14, Y14        \
	VPADDB         Y14, Y11, Y11

// take adds a sum of up to three looks, first + 16 second, to one register, and shifted right by four bits to another. The
// shift is one of 16 bits, so that a byte's upper neighbour shifts into it; part takes that out again.
#define take(sum, whole, shifted) \
	VPADDB sum, whole, whole \
	VPSRLW $4, sum, sum      \
	VPADDB sum, shifted, shifted

// part parts the distances of two queries. Modulo 256, whole is first + 16 second in each byte; shifted is second in
// each odd byte, and second + 16 times the neighbour's first in each even one. So whole - 16 shifted is first in both, and
// that of the odd bytes is what has to be taken out of the even ones. In the end whole is first and shifted is second.
#define part(whole, shifted) \
	VPSLLW $4, shifted, Y8      \
	VPAND  upper<>(SB), Y8, Y8  \
	VPSUBB Y8, whole, whole     \
	VPAND  spill<>(SB), whole, Y8 \
	VPSRLW $4, Y8, Y8           \
	VPSUBB Y8, shifted, shifted

// short sets diff to by how much the lesser of two halves' distances falls short of query i's limit, 0 where it does not.
#define short(i, a, b, diff) \
	VPMINUB      a, b, a        \
	VPBROADCASTB i(R10), diff   \
	VPSUBUSB     a, diff, diff

// found sets bit R12 of the result where one of these is not 0, and goes on to the next bit.
#define found(diff) \
	XORL    AX, AX       \
	VPTEST  diff, diff   \
	CMOVQNE R12, AX      \
	ORQ     AX, R11      \
	SHLQ    $1, R12

// func belowAVX2(codes *nibbles, queries *tables, limits *[batch]uint8, fours int, next *block) uint64
//
// A turn counts four queries against 64 codes. Y0 to Y3 are the whole sums: pair 0 and the first 32 codes, pair 0 and the
// others, pair 1 likewise; Y4 to Y7 the shifted ones. A look of a query is at most 4, so three of them fit into four bits.
TEXT ·belowAVX2(SB), NOSPLIT, $0-48
	MOVQ codes+0(FP), SI
	MOVQ queries+8(FP), R9
	MOVQ limits+16(FP), R10
	MOVQ fours+24(FP), BX
	MOVQ next+32(FP), DI
	XORQ R11, R11
	MOVQ $1, R12

turn:
	MOVQ  SI, R8
	MOVQ  $21, CX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7

three:
	PREFETCHT0 (DI) // a line a turn of this loop: all at once would have to wait for one another
	ADDQ $64, DI
	look(0)
	addLook(1)
	addLook(2)
	take(Y8, Y0, Y4)
	take(Y9, Y1, Y5)
	take(Y10, Y2, Y6)
	take(Y11, Y3, Y7)
	ADDQ $96, R8
	ADDQ $48, R9
	DECQ CX
	JNZ  three

	look(0) // 64 is 21 times three and one
	take(Y8, Y0, Y4)
	take(Y9, Y1, Y5)
	take(Y10, Y2, Y6)
	take(Y11, Y3, Y7)
	part(Y0, Y4)
	part(Y1, Y5)
	part(Y2, Y6)
	part(Y3, Y7)
	short(0, Y0, Y1, Y8)
	short(1, Y4, Y5, Y9)
	short(2, Y2, Y3, Y10)
	short(3, Y6, Y7, Y11)
	ADDQ $1040, R9 // 21 * 48 + 16 of pair 0 lie behind, and all of pair 1
	ADDQ $4, R10
	VPOR Y8, Y9, Y12
	VPOR Y10, Y11, Y13
	VPOR Y12, Y13, Y12
	VPTEST Y12, Y12
	JNZ  some
	SHLQ $4, R12

more:
	DECQ BX
	JNZ  turn
	VZEROUPPER
	MOVQ R11, ret+40(FP)
	RET

some:
	found(Y8)
	found(Y9)
	found(Y10)
	found(Y11)
	JMP more
