package io.millrace.proxy.caching.tags;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** SipHash-2-4 against its authors' vectors. */
final class TagKeyTest {
    private static byte[] counting(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) i;
        }
        return bytes;
    }

    @ParameterizedTest
    @CsvSource({
        "0, 726fdb47dd0e0e31",
        "1, 74f839c593dc67fd",
        "7, ab0200f58b01d137",
        "8, 93f5f5799a932462",
        "15, a129ca6149be45e5"
    })
    void hashesAsTheReferenceDoes(int length, String expected) {
        TagKey key = TagKey.of(counting(TagKey.LENGTH));
        assertEquals(Long.parseUnsignedLong(expected, 16), key.tag(counting(length), 0, length));
        byte[] within = new byte[length + 5];
        System.arraycopy(counting(length), 0, within, 3, length);
        assertEquals(Long.parseUnsignedLong(expected, 16), key.tag(within, 3, 3 + length));
    }

    @Test
    void anotherKeyGivesOtherHashes() {
        byte[] bytes = counting(TagKey.LENGTH);
        TagKey key = TagKey.of(bytes);
        assertArrayEquals(bytes, key.bytes());
        bytes[9] ^= 1;
        assertNotEquals(key, TagKey.of(bytes));
        assertNotEquals(key.site("a.example"), TagKey.of(bytes).site("a.example"));
        assertThrows(IllegalArgumentException.class, () -> TagKey.of(new byte[15]));
    }

    @Test
    void tagsOfTwoSitesHaveDifferentHashes() {
        TagKey key = TagKey.of(counting(TagKey.LENGTH));
        long[] sites = {key.site("a.example"), key.site("b.example")};
        Set<Long> hashes = new HashSet<>();
        for (int i = 0; i < 200_000; i++) {
            byte[] tag = ("post-" + i).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
            for (long site : sites) {
                hashes.add(key.tag(tag, 0, tag.length) ^ site);
            }
        }
        assertEquals(400_000, hashes.size());
    }
}
