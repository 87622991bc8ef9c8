#include "textflag.h"

// The kernel of AVX-512 VBMI, which looks up 64 bytes at once in a table of 128: two such look-ups, and the choice between
// their results by the highest bit, are tran. Counting takes one store for each of the eight hashes of a byte, and
// a processor does one a cycle; hashing leaves the port for stores alone. So a block is hashed while the one before is
// counted, a piece of the one between two pieces of the other.

// six is what x4 is off in lane 6.
DATA six<>+0(SB)/1, $6
GLOBL six<>(SB), RODATA|NOPTR, $1

// permute sets result to tran of each byte of index.
#define permute(index, result) \
	VPMOVB2M  index, K1             \
	VMOVDQA64 index, result         \
	VMOVDQA64 index, Z26            \
	VPERMI2B  Z29, Z28, result      \
	VPERMI2B  Z31, Z30, Z26         \
	VMOVDQU8  Z26, K1, result

// hit counts the hash at a place of a lane. The next hit of the same bank is three away and mostly of another bucket: that of the
// same lane, which a text that repeats itself has in the same bucket, is seven away, and does not wait for this one.
#define hit(lane, place) \
	MOVBLZX (lane*64+place)(SI), AX \
	INCL    ((lane&3)*1024)(BX)(AX*4)

#define hits(place) \
	hit(0, place) \
	hit(1, place) \
	hit(2, place) \
	hit(3, place) \
	hit(4, place) \
	hit(5, place) \
	hit(6, place) \
	hit(7, place)

// count counts four places of all lanes.
#define count(place) \
	hits(place)   \
	hits(place+1) \
	hits(place+2) \
	hits(place+3)

// part sets sum to the part a of a lane, and index to that of the next lane.
#define part(index, sum, place) \
	permute(index, sum)      \
	VPSUBB Z27, index, index \
	count(place)

// finish adds the part c of a lane to the others and stores its hashes.
#define finish(lane, c, sum) \
	VPBROADCASTB ·tran+lane(SB), Z6 \
	VPXORQ       c, Z6, Z6          \
	permute(Z6, Z7)                 \
	VPADDB       Z7, sum, sum       \
	VMOVDQU64    sum, (lane*64)(DI) \
	count(4*lane)

// func countAVX512(t *tally, text *byte, n int)
//
// Z0 to Z4 are x0 to x4 of a block, Z8 to Z15 its lanes; Z28 to Z31 are tran, Z27 is -1 in each byte. SI has the hashes that are
// counted, DI those that are computed.
TEXT ·countAVX512(SB), NOSPLIT, $0-24
	MOVQ       t+0(FP), BX
	MOVQ       text+8(FP), R8
	MOVQ       n+16(FP), CX
	LEAQ       4096(BX), SI
	LEAQ       512(SI), DI
	VMOVDQU64  ·tran+0(SB), Z28
	VMOVDQU64  ·tran+64(SB), Z29
	VMOVDQU64  ·tran+128(SB), Z30
	VMOVDQU64  ·tran+192(SB), Z31
	VPTERNLOGD $255, Z27, Z27, Z27

next:
	CMPQ CX, $1
	JEQ  last
	ADDQ $64, R8

last: // computes its own hashes again, which are not counted
	VMOVDQU64 4(R8), Z0
	VMOVDQU64 3(R8), Z1
	VMOVDQU64 2(R8), Z2
	VMOVDQU64 1(R8), Z3
	VMOVDQU64 0(R8), Z4
	VMOVDQA64 Z0, Z5
	part(Z5, Z8, 32)
	part(Z5, Z9, 36)
	part(Z5, Z10, 40)
	part(Z5, Z11, 44)
	part(Z5, Z12, 48)
	part(Z5, Z13, 52)
	VPBROADCASTB six<>(SB), Z5
	VPADDB Z4, Z5, Z5
	part(Z5, Z14, 56)
	part(Z5, Z15, 60)

	permute(Z1, Z5) // times 1, 3, 7 and 13
	VPXORQ Z5, Z8, Z8
	VPADDB Z5, Z5, Z6
	VPADDB Z5, Z6, Z7
	VPXORQ Z7, Z9, Z9
	VPADDB Z6, Z6, Z6
	VPADDB Z6, Z7, Z7
	VPXORQ Z7, Z11, Z11
	VPADDB Z7, Z7, Z7
	VPSUBB Z5, Z7, Z7
	VPXORQ Z7, Z14, Z14
	permute(Z2, Z5) // times 5 and 9
	VPADDB Z5, Z5, Z6
	VPADDB Z6, Z6, Z6
	VPADDB Z5, Z6, Z7
	VPXORQ Z7, Z10, Z10
	VPADDB Z6, Z7, Z7
	VPXORQ Z7, Z12, Z12
	permute(Z3, Z5) // times 11 and 15
	VPADDB Z5, Z5, Z6
	VPADDB Z6, Z6, Z6
	VPADDB Z6, Z6, Z7
	VPADDB Z6, Z7, Z7
	VPSUBB Z5, Z7, Z7
	VPXORQ Z7, Z13, Z13
	VPADDB Z6, Z7, Z7
	VPXORQ Z7, Z15, Z15

	finish(0, Z2, Z8)
	finish(1, Z3, Z9)
	finish(2, Z3, Z10)
	finish(3, Z4, Z11)
	finish(4, Z4, Z12)
	finish(5, Z4, Z13)
	finish(6, Z0, Z14)
	finish(7, Z0, Z15)

	XCHGQ SI, DI
	DECQ  CX
	JNZ   next

	MOVQ $16, CX

sum:
	VMOVDQU32 0(BX), Z0
	VPADDD    1024(BX), Z0, Z0
	VPADDD    2048(BX), Z0, Z0
	VPADDD    3072(BX), Z0, Z0
	VMOVDQU32 Z0, 0(BX)
	ADDQ      $64, BX
	DECQ      CX
	JNZ       sum
	VZEROUPPER
	RET
