package io.millrace.proxy.caching.tags;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http.FieldSection;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which tags the fields of a response name, and which lines clients get. */
final class TagRulesTest {
    private static FieldSection fields(String... lines) {
        FieldSection.Builder builder = FieldSection.builder();
        for (String line : lines) {
            builder.add(
                    line.substring(0, line.indexOf(':')),
                    line.substring(line.indexOf(':') + 1).strip());
        }
        return builder.build();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "Surrogate-Key: a b,c  a   | a b,c",
                "xkey: a                   | a",
                "XKEY: a b                 | a b",
                "Cache-Tag: a, b c ,,d     | a;b c;d",
                "Edge-Cache-Tag: a,a,b     | a;b",
                "Cache-Groups: \"a\", \"b c\" | a;b c",
                "Cache-Groups: a, \"b\"    | ",
                "X-Other: a b              | ",
                "X-Magento-Tags: a,b       | a;b",
                "x-cache-tags: a, b        | a;b",
                "Cache-Tags: node:1 node:2 | node:1;node:2",
                "Purge-Cache-Tags: 3n6s    | 3n6s",
                "X-Magento-Tag: a          | ",
                "Cache-Control: a          | ",
            })
    void eachFieldHasItsSyntax(String line, String expected) {
        String separator = line.contains("Surrogate")
                        || line.toLowerCase(java.util.Locale.ROOT).contains("xkey")
                ? " "
                : ";";
        List<String> tags = expected == null ? List.of() : List.of(expected.split(separator));
        assertEquals(tags, TagRules.DEFAULTS.read(fields(line)).texts());
    }

    @Test
    void severalFieldsAndLinesAddUpAndOtherNamesTakeBothSeparators() {
        FieldSection fields = fields("X-Magento-Tags: p1,p2 p3", "xkey: a", "xkey: b a", "Cache-Tag: c");
        assertEquals(
                List.of("a", "b", "c", "p1", "p2", "p3"),
                TagRules.DEFAULTS.read(fields).texts());
        assertEquals(
                List.of("a", "b"),
                TagRules.of(List.of("XKey"), false).read(fields).texts());
        assertEquals(
                List.of("p1", "p2", "p3"),
                TagRules.of(List.of("X-Magento-Tags"), false).read(fields).texts());
        assertSame(Tags.NONE, TagRules.of(List.of(), false).read(fields));
    }

    @ParameterizedTest
    @CsvSource({
        "Surrogate-Key, false, true",
        "xkey, false, true",
        "Cache-Tag, false, true",
        "Cache-Groups, false, false",
        "X-Other, false, false",
        "Content-Type, false, false",
        "Surrogate-Key, true, false",
        "X-Magento-Tags, false, true",
        "purge-cache-tags, false, true",
        "Last-Modified, false, false",
    })
    void clientsGetWhatIsNoFieldOfTagsAndCacheGroups(String name, boolean keep, boolean removed) {
        TagRules rules = TagRules.of(TagRules.DEFAULT_FIELDS, keep);
        assertEquals(removed, rules.isRemoved(fields(name + ": a"), 0));
    }

    /** Well-known fields can name tags too, but clients get them. */
    @Test
    void wellKnownFieldsCanHaveTags() {
        TagRules rules = TagRules.of(List.of("Link", "xkey"), false);
        FieldSection fields = fields("Link: a b", "ETag: c");
        assertEquals(List.of("a", "b"), rules.read(fields).texts());
        assertTrue(rules.hasTagField(fields) && !rules.isRemoved(fields, 0));
        assertFalse(rules.hasTagField(fields("ETag: c", "Date: d")));
        assertTrue(rules.hasField("XKEY") && !rules.hasField("Cache-Tag"));
    }

    @Test
    void aThousandTagsAreTakenAndOneMoreIsAProblemThatNamesTheLimit() {
        String thousand = IntStream.range(0, 1000).mapToObj(i -> "t" + i).collect(Collectors.joining(" "));
        assertNull(TagRules.DEFAULTS.problem(fields("xkey: " + thousand)));
        assertEquals(1000, TagRules.DEFAULTS.read(fields("xkey: " + thousand)).count());
        assertEquals(
                "number of tags: actual more than 1000, limit=1000",
                TagRules.DEFAULTS.problem(fields("xkey: " + thousand + " one-more")));
    }

    @Test
    void aTagHasItsLongestLength() {
        assertNull(TagRules.DEFAULTS.problem(fields("xkey: " + "x".repeat(1024))));
        assertEquals(
                "length of a tag in bytes: actual=1025, limit=1024",
                TagRules.DEFAULTS.problem(fields("xkey: " + "x".repeat(1025))));
        assertNull(TagRules.DEFAULTS.problem(fields("X-Other: a")));
    }

    @Test
    void aControlByteIsNamedByItsPosition() {
        TagList list = new TagList();
        list.add(new byte[] {'a', 1, 'b'}, 0, 3, TagSyntax.SPACES);
        assertEquals("control byte 0x1 at position 1 of a tag", list.problem());
        assertSame(Tags.NONE, list.tags());
    }

    @ParameterizedTest
    @CsvSource({
        "0, '', the last tag has no line feed after it",
        "1, a, the last tag has no line feed after it",
        "4096, a, the last tag has no line feed after it",
        "4097, '', 'tags: actual=4097, limit=4096'"
    })
    void packedTagsThatAreWrongAreRefusedWithTheirFault(int complete, String more, String problem) {
        byte[] packed = ("a\n".repeat(complete) + more).getBytes(StandardCharsets.US_ASCII);
        assertEquals(
                problem,
                assertThrows(IllegalArgumentException.class, () -> Tags.ofPacked(null, packed))
                        .getMessage());
    }

    @Test
    void packedTagsAreReadAgainAndJoined() {
        Tags tags = TagRules.DEFAULTS.read(fields("xkey: a b"));
        assertEquals(tags.onSite("s"), Tags.ofPacked("s", tags.packed()));
        assertEquals(
                List.of("a", "b", "c"),
                tags.union(TagRules.DEFAULTS.read(fields("xkey: b c"))).texts());
        assertSame(Tags.NONE, Tags.NONE.onSite("s"));
    }
}
