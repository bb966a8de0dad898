package io.millrace.proxy.purge.pattern;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PurgedPatternsTest {
    private static final long NOW = 1_790_000_000_000L;
    private static final TargetUri URL = (TargetUri) TargetUri.parseAbsolute("http://a.example/%62?q");

    private static PurgedPattern pattern(String text, boolean soft, long stamp) throws ExpressionException {
        return PurgedPattern.parse(text, soft).at(stamp, NOW + stamp);
    }

    private static StoredHead head(long stamp, String... fields) {
        FieldSection.Builder section = FieldSection.builder().add("Cache-Control", "max-age=60");
        for (int i = 0; i < fields.length; i += 2) {
            section.add(fields[i], fields[i + 1]);
        }
        ResponseHead response = ResponseHead.of(200, "OK", section.build());
        RequestHead request = RequestHead.of("GET", URL, FieldSection.EMPTY);
        return StoredHead.of(request, response, NOW, NOW, CacheSettings.DEFAULTS)
                .withStamp(stamp, URL, null);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                // expression | stored | in flight
                "path == '/b' | BY_PATTERN | BY_PATTERN",
                "url == 'http://a.example/b?q' | BY_PATTERN | BY_PATTERN",
                "path == '/%62' | - | -",
                "type == 'text/css' | BY_PATTERN | BY_PATTERN",
                "type == 'text/html' | - | BY_PATTERN",
                "host == 'b.example' && status == 200 | - | -",
                "size == 7B | BY_PATTERN | BY_PATTERN",
                "size == 8B | - | BY_PATTERN",
                "tag == 'p' && header['X-A'] == '2' | BY_PATTERN | BY_PATTERN",
                "tag == 'q' | - | BY_PATTERN",
                "!(header['X-A'] =~ '[12]') | - | BY_PATTERN"
            })
    void comparesStoredHeadsExactlyAndResponsesOnTheirWayByUrl(String text, Outdated stored, Outdated inFlight)
            throws ExpressionException {
        StoredHead head = head(4, "Content-Type", "Text/CSS; charset=x", "xkey", "p", "X-A", "1", "X-A", "2");
        PurgedPatterns patterns = PurgedPatterns.NONE.with(pattern(text, false, 5));
        assertEquals(stored, patterns.find(URL, head, 7));
        assertEquals(stored, patterns.find(URL, head, 7), "noted or not");
        assertEquals(inFlight, patterns.findForFetch(URL, 4));
        assertNull(patterns.find(URL, head(5, "Content-Type", "text/css", "xkey", "p", "X-A", "2"), 7));
        assertNull(patterns.findForFetch(URL, 5));
    }

    @Test
    void hardWinsAndTheFirstSoftOneCounts() throws ExpressionException {
        StoredHead head = head(1);
        PurgedPatterns patterns =
                PurgedPatterns.NONE.with(pattern("path == '/b'", true, 3)).with(pattern("status == 200", true, 2));
        assertEquals(Outdated.STALE_BY_PATTERN, patterns.find(URL, head, 0));
        assertEquals(NOW + 2, patterns.firstSoftMillis(URL, head, 5));
        PurgedPatterns more = patterns.with(pattern("age < 1d", false, 4));
        assertEquals(Outdated.BY_PATTERN, more.find(URL, head, 0));
        assertEquals(Outdated.BY_PATTERN, more.findForFetch(URL, 1));
        assertEquals(Long.MAX_VALUE, PurgedPatterns.NONE.firstSoftMillis(URL, head, 5));
    }

    /** The note of a head applies to one list only. */
    @Test
    void anotherListIsComparedAgain() throws ExpressionException {
        StoredHead head = head(1);
        PurgedPatterns first = PurgedPatterns.NONE.with(pattern("path == '/c'", false, 2));
        assertNull(first.find(URL, head, 0));
        PurgedPatterns second = first.with(pattern("path == '/b'", false, 3));
        assertEquals(Outdated.BY_PATTERN, second.find(URL, head, 0));
        assertNull(second.retire(3).find(URL, head, 0));
    }

    @Test
    void retiredPatternsCountForWhatIsOnItsWay() throws ExpressionException {
        PurgedPatterns patterns =
                PurgedPatterns.NONE.with(pattern("path == '/b'", true, 2)).retire(2);
        assertTrue(patterns.isEmpty());
        assertNull(patterns.find(URL, head(1), 0));
        assertEquals(Outdated.STALE_BY_PATTERN, patterns.findForFetch(URL, 1));
        assertNull(patterns.findForFetch(URL, 2));
        assertSame(patterns, patterns.with(pattern("path == '/b'", true, 2)), "it does not come back");
        for (int i = 0; i < 64; i++) {
            patterns = patterns.with(pattern("path == '/c'", false, 10 + i)).retire(10 + i);
        }
        assertEquals(Outdated.BY_PATTERN, patterns.findForFetch(URL, 1), "below the floor");
        assertNull(patterns.findForFetch(URL, 2));
    }

    @Test
    void isBounded() throws ExpressionException {
        PurgedPatterns patterns = PurgedPatterns.NONE;
        for (int i = 0; i < PurgedPatterns.MAX; i++) {
            assertFalse(patterns.isFull());
            patterns = patterns.with(pattern("path == '/c'", i % 2 == 0, 10 + i));
        }
        assertTrue(patterns.isFull());
        assertEquals(63, patterns.above(10, 0).live().size());
        assertEquals(60, patterns.above(11, 14).live().size());
    }

    @Test
    void aMarkedHeadIsStaleSinceThen() {
        StoredHead marked = head(1).withSoftPurge(NOW + 10_000);
        assertEquals(10, marked.lifetimeSeconds());
        assertFalse(marked.isFresh(NOW + 10_000));
        assertEquals(0, marked.staleWhileRevalidateSeconds());
        assertSame(marked, marked.withSoftPurge(NOW + 20_000));
        assertEquals(1, marked.stamp());
    }
}
