package io.millrace.proxy.dictionary;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.encode.CompressionDictionary;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.TargetUri;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Tests the memory of dictionaries, and their replacement. */
class DictionariesTest {
    private static final long NO_LIMIT = Long.MAX_VALUE;

    private final Dictionaries dictionaries = new Dictionaries();

    private static TargetUri url(String text) {
        return (TargetUri) TargetUri.parseAbsolute(text);
    }

    private static StoredDictionary dictionary(String url, int octet, long freshUntilMillis) {
        byte[] bytes = new byte[1000];
        Arrays.fill(bytes, (byte) octet);
        FieldSection fields =
                FieldSection.builder().add("Use-As-Dictionary", "match=\"/*\"").build();
        return new StoredDictionary(
                url(url),
                DictionaryTerms.of(fields, url(url)),
                CompressionDictionary.of(bytes),
                freshUntilMillis,
                url(url),
                null,
                0,
                null);
    }

    private static StoredDictionary dictionary(String url, int octet) {
        return dictionary(url, octet, NO_LIMIT);
    }

    private StoredDictionary find(String url, StoredDictionary like) {
        return dictionaries.find(url(url), like.content().hashText());
    }

    @Test
    void aDictionaryBelongsToItsOrigin() {
        StoredDictionary one = dictionary("https://a.example/d", 1);
        dictionaries.add(one, NO_LIMIT);
        assertSame(one, find("https://a.example/other", one));
        assertNull(find("http://a.example/d", one));
        assertNull(find("https://b.example/d", one));
        assertNull(find("https://a.example:8443/d", one));
    }

    @Test
    void aUrlHasOneDictionary() {
        StoredDictionary first = dictionary("https://a.example/d", 1);
        StoredDictionary second = dictionary("https://a.example/d", 2);
        dictionaries.add(first, NO_LIMIT);
        long bytes = dictionaries.bytes();
        dictionaries.add(second, NO_LIMIT);
        assertNull(find("https://a.example/d", first));
        assertNotNull(find("https://a.example/d", second));
        dictionaries.forget(first);
        assertEquals(1, dictionaries.count());
        assertEquals(bytes, dictionaries.bytes());
        dictionaries.forget(url("https://a.example/d"));
        assertEquals(0, dictionaries.count());
        assertEquals(0, dictionaries.bytes());
    }

    /** Two URLs with the same content have one dictionary: that of the newest response. */
    @Test
    void equalContentIsHeldOnce() {
        StoredDictionary first = dictionary("https://a.example/1", 1);
        StoredDictionary second = dictionary("https://a.example/2", 1);
        dictionaries.add(first, NO_LIMIT);
        dictionaries.add(second, NO_LIMIT);
        assertSame(second, find("https://a.example/", first));
        dictionaries.forget(url("https://a.example/1"));
        assertEquals(1, dictionaries.count());
        dictionaries.forget(url("https://a.example/2"));
        assertEquals(0, dictionaries.bytes());
    }

    @Test
    void thoseNotUsedForTheLongestTimeAreDropped() {
        StoredDictionary[] all = new StoredDictionary[4];
        for (int i = 0; i < 3; i++) {
            all[i] = dictionary("https://a.example/" + i, i);
            dictionaries.add(all[i], NO_LIMIT);
        }
        long limit = dictionaries.bytes();
        assertNotNull(find("https://a.example/", all[0]));
        all[3] = dictionary("https://a.example/3", 3);
        dictionaries.add(all[3], limit);
        assertNull(find("https://a.example/", all[1]));
        assertNotNull(find("https://a.example/", all[0]));
        assertNotNull(find("https://a.example/", all[2]));
        assertNotNull(find("https://a.example/", all[3]));
        dictionaries.add(dictionary("https://a.example/4", 4), 100);
        assertEquals(limit, dictionaries.bytes());
    }

    @Test
    void aServedResponseIsReadAgainAfterAMinuteOrWhenItsDictionaryIsStale() {
        TargetUri url = url("https://a.example/d");
        assertTrue(dictionaries.beginRead(url, 1000));
        assertFalse(dictionaries.beginRead(url, 2000));
        assertTrue(dictionaries.beginRead(url, 62_000));
        dictionaries.add(dictionary("https://a.example/d", 1, 100_000), NO_LIMIT);
        assertFalse(dictionaries.beginRead(url, 99_999));
        assertTrue(dictionaries.beginRead(url, 100_000));
        for (int i = 0; i < 2000; i++) {
            assertTrue(dictionaries.beginRead(url("https://a.example/" + i), 1));
        }
    }
}
