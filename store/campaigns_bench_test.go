package store

import "testing"

// BenchmarkCampaigns looks at a store of 500,000 clusters, a tenth of them campaigns, and 1,000,000 messages.
func BenchmarkCampaigns(b *testing.B) {
	s := scratchStore(b)
	for i := range uint64(500_000) {
		s.memory.place(&cluster{seq: i, copies: 1 + uint32(i%10/9*(1+i%1000)), heat: 1, last: int64(i), sample: "something"})
	}
	for i := range uint64(1_000_000) {
		s.remember(mix(i), &delivery{seq: i / 2, at: int64(i)})
	}
	s.lastSeq = 500_000
	id := s.id(4999)
	b.Run("the twenty liveliest", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Campaigns(Live, 20)
		}
	})
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Campaign(id); err != nil {
				b.Fatal(err)
			}
		}
	})
}
