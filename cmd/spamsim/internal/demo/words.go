package demo

import "strings"

// The patterns of sentences: N a noun, V a verb, A an adjective, P a name, D an adverb.
var patterns = []string{
	"P said that the N would V before the N could V",
	"I D think of the A N near your N",
	"could you V the N with P, or should I V it",
	"after the N we V a A N and two more N",
	"nobody will V my N unless P can V",
	"there was a N in the A N, D A",
	"P and P want to V some N for the N",
	"when does the A N V",
	"we D V at the N, then V home through the N",
	"her N is A but the N seems D A",
	"please V what P wrote about N",
	"last week a N began to V under our N",
	"if the N stays A, P will V the other N",
	"my brother wants to V his A N D",
	"most N here V without any N",
	"this N was made to V, not to V",
	"tell P that N and N are D gone",
	"in the N they V every A N they find",
	"it took P three days to V the N again",
	"why would a N V so D",
	"the A one is mine, the N belongs to P",
	"on Sunday P may V, weather and N permitting",
}

var names = strings.Fields(`Ada Bela Carmen Dmitri Elif Farid Greta Hugo Ines Jonas Kaito Leila Mirek Nadia Oskar Priya
Quentin Rosa Samir Tove Ulla Viktor Wanda Xenia Yusuf Zora Amir Birgit Cyril Dora Emil Fiona`)

var nouns = strings.Fields(`apple anchor attic bakery balloon barn basket battery beach bicycle blanket boat bottle bridge
broom bucket butter cabin camera candle canyon carpet castle cellar chair cherry chimney circus clarinet clock cloud
coffee compass concert copper cottage cousin crane cricket curtain dentist desert diary dinner dolphin donkey drawer
drum eagle engine evening fabric ferry festival fiddle flute forest fountain fox furnace garage garlic glacier glove
goose granite guitar hammer harbor harvest hedge helmet holiday honey horse hotel island jacket jar jewel journey kettle
kitchen kite ladder lake lantern leather lemon letter library lighthouse lizard machine magnet maple marble market meadow
melon mirror monastery moon mountain museum mushroom needle neighbor newspaper notebook oak ocean olive onion orchard
orchestra oven owl paddle painting parcel parrot pasta pebble pencil pepper piano picnic pillow pirate planet plum pocket
pond potato pottery puzzle quarry rabbit radio railway rain raspberry recipe restaurant ribbon river roof rope saddle
sailor salad sandal scarf school scissors shadow sheep shelf shovel silver skeleton ski sofa soup spider spoon squirrel
stable station statue storm suitcase sunflower tailor teapot telescope theater thunder ticket tiger tomato tower tractor
trumpet tunnel turtle umbrella uncle valley vase village vinegar violin volcano wagon wallet walnut watch waterfall
whale wheel window winter wizard wolf workshop yarn zebra`)

var verbs = strings.Fields(`admire answer arrange ask bake bend borrow bring build buy carry catch choose clean climb
collect compare cook count cover cross dance decorate deliver describe dig discover draw dream drink drive dry enjoy
escape examine explain fetch fill find finish fix float fold follow forget freeze gather grow guard hang help hide hunt
imagine improve invite jump keep knit laugh leave lift listen lock measure meet melt mend move notice open order pack
paint peel photograph plant play polish pour practise prepare promise pull push read recognise remember rent repair
replace rescue ride ring sail save search sell send sew shake share sharpen shine shout sing sketch sleep slide smell
solve spill stir store study sweep swim taste teach throw touch trade travel trust try turn visit wait walk wash watch
wave weigh whisper win wonder wrap write`)

var adjectives = strings.Fields(`ancient angry bitter blue bold brave bright broken calm careful cheap clever cold crooked
curious curly damp dark deep delicate dirty distant dusty eager early empty fancy famous fast flat foggy fresh friendly
frozen funny gentle golden grateful green grey guilty handsome happy heavy hollow honest huge hungry icy jolly kind late
lazy light little lonely long loud lucky mild modern muddy narrow noisy odd old orange pale patient plain polite proud
purple quick quiet rare raw red rough round rusty salty sharp shy silent silly slow small smooth soft sour spare steep
sticky strange striped strong sunny sweet tall thick thin tidy tiny tired warm weak wet white wide wild wise wooden
yellow young`)

var adverbs = strings.Fields(`almost already always barely often never quite rather really seldom slowly still
sometimes suddenly usually very hardly gladly`)

var notes = []string{"Thanks!", "See you at eight.", "Yes, fine with me.", "Got it.", "On my way."}

// pills, invoice and newsletter are the texts that campaigns send.
const (
	pills = "You pay far too much for your medicine, and you know it. Our members get the same tablets from the same " +
		"makers for a fifth of the price that your corner shop asks, without a prescription and without a queue. Order " +
		"before midnight and we add thirty free capsules to whatever you choose, in a plain envelope that tells the " +
		"postman nothing. More than ninety thousand customers in forty countries have switched since spring, and nine " +
		"of ten come back within a month. Look at the list, pick what the doctor charged you double for, and see how " +
		"much is left in your purse on Friday. This offer ends when the stock does, so do not put it off again."
	invoice = "We could not collect the amount that was due on your account last week, and the service will be suspended " +
		"unless the details on file are confirmed within forty eight hours. Open the statement through the secure page " +
		"below, sign in with your mailbox password and check that the billing address is right. Once the department " +
		"has verified your entry the hold is lifted at once and no fee is charged. Customers who ignore this reminder " +
		"lose access to stored documents, and restoring them costs extra. We regret the trouble and value your loyalty."
	newsletter = "Welcome to the garden letter, which you ordered. This month we prune the currants, divide the rhubarb and " +
		"sow broad beans in boxes under the window. Readers asked how to keep slugs from the lettuce: a saucer of beer " +
		"works better than any powder, and hedgehogs work better than beer. The seed exchange takes place on the second " +
		"Saturday behind the town hall; bring envelopes and labels. On page two our pear trees of the year, and why you " +
		"should never water at noon. To stop this letter, answer it with the word stop, and we shall miss you."
)
