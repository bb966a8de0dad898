package io.millrace.proxy.dictionary;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Heads;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.encode.CompressionDictionary;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.TargetUri;
import java.util.Arrays;
import java.util.List;
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
                Heads.stored("Cache-Control: max-age=60"),
                0,
                null);
    }

    private static StoredDictionary at(long responseMillis, StoredDictionary dictionary) {
        StoredHead head =
                StoredHead.of(Heads.get(), Heads.response(200), responseMillis, responseMillis, CacheSettings.DEFAULTS);
        return dictionary.validated(dictionary.terms(), head, NO_LIMIT);
    }

    private static StoredDictionary dictionary(String url, int octet) {
        return dictionary(url, octet, NO_LIMIT);
    }

    private void add(StoredDictionary dictionary, long limit) {
        dictionaries.add(dictionary, limit, dictionaries.generation());
    }

    private StoredDictionary find(String url, StoredDictionary like) {
        return dictionaries.find(url(url), like.content().hashText()).stream()
                .findFirst()
                .orElse(null);
    }

    @Test
    void aDictionaryBelongsToItsOrigin() {
        StoredDictionary one = dictionary("https://a.example/d", 1);
        add(one, NO_LIMIT);
        assertSame(one, find("https://a.example/other", one));
        assertNull(find("http://a.example/d", one));
        assertNull(find("https://b.example/d", one));
        assertNull(find("https://a.example:8443/d", one));
    }

    @Test
    void aUrlHasOneDictionary() {
        StoredDictionary first = dictionary("https://a.example/d", 1);
        StoredDictionary second = dictionary("https://a.example/d", 2);
        add(first, NO_LIMIT);
        long bytes = dictionaries.bytes();
        add(second, NO_LIMIT);
        assertNull(find("https://a.example/d", first));
        assertNotNull(find("https://a.example/d", second));
        dictionaries.forget(first);
        assertEquals(1, dictionaries.count());
        assertEquals(bytes, dictionaries.bytes());
        dictionaries.forget(url("https://a.example/d"));
        assertEquals(0, dictionaries.count());
        assertEquals(0, dictionaries.bytes());
    }

    /** Two URLs with the same content share its memory, and its tables; both have their terms. */
    @Test
    void equalContentIsHeldOnce() {
        StoredDictionary first = dictionary("https://a.example/1", 1);
        add(first, NO_LIMIT);
        long one = dictionaries.bytes();
        add(dictionary("https://a.example/2", 1), NO_LIMIT);
        assertEquals(one + CompressionDictionary.RESPONSE_BYTES, dictionaries.bytes());
        List<StoredDictionary> found =
                dictionaries.find(url("https://a.example/"), first.content().hashText());
        assertEquals(
                List.of("/2", "/1"), found.stream().map(d -> d.url().path()).toList());
        assertSame(first.content(), found.get(0).content());
        for (int i = 0; i < 3; i++) {
            assertFalse(dictionaries.isWanted(url("https://a.example/1"), 1));
            assertFalse(dictionaries.isWanted(url("https://a.example/2"), 1));
        }
        dictionaries.forget(url("https://a.example/1"));
        assertEquals(one, dictionaries.bytes());
        dictionaries.forget(url("https://a.example/2"));
        assertEquals(0, dictionaries.bytes());
    }

    @Test
    void theNumberOfResponsesWithEqualContentIsLimited() {
        for (int i = 0; i < 3 * Dictionaries.RESPONSES_MAX; i++) {
            add(dictionary("https://a.example/" + i, 1), NO_LIMIT);
        }
        assertEquals(Dictionaries.RESPONSES_MAX, dictionaries.count());
        for (int i = 2 * Dictionaries.RESPONSES_MAX; i < 3 * Dictionaries.RESPONSES_MAX; i++) {
            dictionaries.forget(url("https://a.example/" + i));
        }
        assertEquals(0, dictionaries.bytes());
    }

    /** The tables of encoders are kept if the same content is stored again. */
    @Test
    void theContentOfAUrlThatIsAddedAgainIsKept() {
        StoredDictionary first = dictionary("https://a.example/1", 1);
        add(first, NO_LIMIT);
        long bytes = dictionaries.bytes();
        add(dictionary("https://a.example/1", 1), NO_LIMIT);
        assertSame(first.content(), find("https://a.example/", first).content());
        assertEquals(bytes, dictionaries.bytes());
    }

    /** Several threads read responses, so that the reading of an older one may end later. */
    @Test
    void anOlderResponseDoesNotReplaceANewerOne() {
        StoredDictionary newer = at(2000, dictionary("https://a.example/1", 2));
        add(newer, NO_LIMIT);
        add(at(1000, dictionary("https://a.example/1", 1)), NO_LIMIT);
        assertSame(newer.content(), dictionaries.of(url("https://a.example/1")).content());
        add(at(3000, dictionary("https://a.example/1", 3)), NO_LIMIT);
        assertEquals(3000, dictionaries.of(url("https://a.example/1")).head().responseTimeMillis());
    }

    @Test
    void aValidatedDictionaryIsReplacedUnlessItWasDropped() {
        StoredDictionary first = dictionary("https://a.example/1", 1, 100);
        add(first, NO_LIMIT);
        StoredDictionary validated = first.validated(first.terms(), first.head(), 200);
        assertTrue(dictionaries.replace(first, validated));
        assertFalse(dictionaries.replace(first, validated));
        assertSame(validated, dictionaries.of(url("https://a.example/1")));
        assertSame(validated, find("https://a.example/", first));
        dictionaries.forget(validated);
        assertEquals(0, dictionaries.bytes());
    }

    @Test
    void aLowerLimitDropsDictionariesAtOnce() {
        StoredDictionary one = dictionary("https://a.example/1", 1);
        StoredDictionary two = dictionary("https://a.example/2", 2);
        add(one, NO_LIMIT);
        long limit = dictionaries.bytes();
        add(two, NO_LIMIT);
        dictionaries.limit(limit);
        assertNull(find("https://a.example/", one));
        assertNotNull(find("https://a.example/", two));
        add(one, NO_LIMIT);
        assertEquals(limit, dictionaries.bytes());
        dictionaries.limit(0);
        assertEquals(0, dictionaries.count());
        assertFalse(dictionaries.isWanted(url("https://a.example/1"), 1));
    }

    @Test
    void aDictionaryThatWasReadBeforeTheClearingIsIgnored() {
        int before = dictionaries.generation();
        add(dictionary("https://a.example/1", 1), NO_LIMIT);
        dictionaries.clear();
        dictionaries.add(dictionary("https://a.example/2", 2), NO_LIMIT, before);
        assertEquals(0, dictionaries.count());
        assertEquals(0, dictionaries.bytes());
    }

    @Test
    void thoseNotUsedForTheLongestTimeAreDropped() {
        StoredDictionary[] all = new StoredDictionary[4];
        for (int i = 0; i < 3; i++) {
            all[i] = dictionary("https://a.example/" + i, i);
            add(all[i], NO_LIMIT);
        }
        long limit = dictionaries.bytes();
        dictionaries.used(all[0]);
        // None of these is a use.
        find("https://a.example/", all[1]);
        dictionaries.of(all[1].url());
        dictionaries.isWanted(all[1].url(), 1);
        dictionaries.beginRead(all[1].url(), 1);
        dictionaries.forget(dictionary("https://a.example/1", 1));
        all[3] = dictionary("https://a.example/3", 3);
        add(all[3], limit);
        assertNull(find("https://a.example/", all[1]));
        assertNotNull(find("https://a.example/", all[0]));
        assertNotNull(find("https://a.example/", all[2]));
        assertNotNull(find("https://a.example/", all[3]));
        add(dictionary("https://a.example/4", 4), 100);
        assertEquals(limit, dictionaries.bytes());
    }

    @Test
    void aServedResponseIsReadAtMostOnceInAMinute() {
        TargetUri url = url("https://a.example/d");
        assertTrue(dictionaries.beginRead(url, 1000));
        assertFalse(dictionaries.beginRead(url, 2000));
        assertTrue(dictionaries.beginRead(url, 62_000));
        add(dictionary("https://a.example/d", 1, 200_000), NO_LIMIT);
        assertFalse(dictionaries.beginRead(url, 199_999));
        assertTrue(dictionaries.beginRead(url, 200_000));
        dictionaries.forget(url);
        assertTrue(dictionaries.beginRead(url, 199_000), "the clock was set back");
    }

    /** Otherwise each hit would read a response for which there is no memory. */
    @Test
    void aDictionaryThatWasDroppedIsNotReadAtEachHit() {
        TargetUri url = url("https://a.example/1");
        assertTrue(dictionaries.beginRead(url, 1000));
        add(dictionary("https://a.example/1", 1), NO_LIMIT);
        dictionaries.limit(dictionaries.bytes());
        add(dictionary("https://a.example/2", 2), NO_LIMIT);
        assertNull(dictionaries.of(url));
        assertFalse(dictionaries.isWanted(url, 2000));
        assertTrue(dictionaries.isWanted(url, 61_000));
    }

    @Test
    void theNumberOfReadsInAMinuteIsLimited() {
        for (int i = 0; i < 2 * Dictionaries.READS_MAX; i++) {
            assertEquals(i < Dictionaries.READS_MAX, dictionaries.beginRead(url("https://a.example/" + i), 1));
        }
        assertTrue(dictionaries.beginRead(url("https://a.example/x"), 60_001));
    }
}
