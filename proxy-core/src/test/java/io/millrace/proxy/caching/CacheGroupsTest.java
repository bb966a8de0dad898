package io.millrace.proxy.caching;

import static io.millrace.proxy.caching.Heads.NOW;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.reuse.Reuse;
import io.millrace.proxy.caching.storing.NoStoreReason;
import io.millrace.proxy.caching.storing.Storability;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the groups to which a response belongs, and those that it invalidates (RFC 9875). */
final class CacheGroupsTest {
    private static final String URL = "http://a.example/x";

    private static long group(String url, String name) {
        return CacheGroups.hash(Heads.target(url), name);
    }

    private static boolean isIn(StoredHead head, long group) {
        return Arrays.binarySearch(head.groups(), group) >= 0;
    }

    @ParameterizedTest(name = "RFC 9875 2: of Cache-Groups {0} the groups are {1}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "\"a\"                          | a",
                "\"a\", \"b\"                   | a b",
                "\"b\" , \"a\", \"b\"           | a b",
                "\"a\";x=1, \"b\";y             | a b",
                "\"a\"^Cache-Groups: \"b\"      | a b",
                "\"A\"                          | A"
            })
    void aListOfStringsInAnyOrderAndWithParametersThatMeanNothing(String value, String names) {
        StoredHead head = Heads.stored("Cache-Groups: " + value);
        List<String> expected = List.of(names.split(" "));
        assertEquals(expected.size(), head.groups().length);
        for (String name : expected) {
            assertTrue(isIn(head, group(URL, name)), name);
        }
    }

    @ParameterizedTest(name = "RFC 9651 4.2: Cache-Groups {0} counts as absent")
    @ValueSource(strings = {"a", "\"a\", b", "\"a", "\"a\", (\"b\")", "\"a\",", "1", ""})
    void aFieldThatIsNoListOfStringsIsIgnoredAsAWhole(String value) {
        assertEquals(0, Heads.stored("Cache-Groups: " + value).groups().length);
    }

    @Test
    void rfc9875Section2AtLeast32GroupsOf32CharactersAreKept() {
        String value = IntStream.range(0, 32)
                .mapToObj(i -> "\"" + "x".repeat(30) + (10 + i) + "\"")
                .collect(Collectors.joining(", "));
        assertEquals(32, Heads.stored("Cache-Groups: " + value).groups().length);
    }

    @Test
    void aResponseOfMoreGroupsThanAreKeptIsNotStored() {
        String value = IntStream.range(0, CacheGroups.GROUPS_MAX + 1)
                .mapToObj(i -> "\"" + i + "\"")
                .collect(Collectors.joining(","));
        Storability storability = Storability.of(
                Heads.get(),
                Heads.response(200, "Cache-Control: max-age=60", "Cache-Groups: " + value),
                NOW,
                CacheSettings.DEFAULTS);
        assertEquals(
                NoStoreReason.CACHE_GROUPS,
                assertInstanceOf(Storability.NotStorable.class, storability).reason());
    }

    @ParameterizedTest(name = "RFC 9875 2.1: the group of the same name at {0} is another one")
    @ValueSource(strings = {"https://a.example/x", "http://b.example/x", "http://a.example:8080/x"})
    void groupsAreThoseOfOneOrigin(String other) {
        assertNotEquals(group(URL, "g"), group(other, "g"));
        assertEquals(group(URL, "g"), group("http://A.example:80/y?z", "g"));
        assertNotEquals(group(URL, "g"), group(URL, "G"));
    }

    private static List<String> invalidated(String method, int status, String... lines) {
        return CacheGroups.invalidatedBy(Heads.request(method, URL), Heads.response(status, lines));
    }

    @ParameterizedTest(name = "RFC 9875 3: the answer to {0} invalidates the groups that it names")
    @ValueSource(strings = {"POST", "PUT", "DELETE", "PATCH"})
    void unsafeMethodsInvalidateGroups(String method) {
        assertEquals(List.of("a", "b"), invalidated(method, 200, "Cache-Group-Invalidation: \"a\", \"b\";x, \"a\""));
        assertEquals(List.of("a"), invalidated(method, 303, "Cache-Group-Invalidation: \"a\""));
    }

    @ParameterizedTest(name = "RFC 9875 3: Cache-Group-Invalidation on the answer to {0} is ignored")
    @ValueSource(strings = {"GET", "HEAD", "OPTIONS", "TRACE"})
    void safeMethodsDoNot(String method) {
        assertEquals(List.of(), invalidated(method, 200, "Cache-Group-Invalidation: \"a\""));
    }

    @ParameterizedTest(name = "RFC 9111 4.4: a {0} invalidates no group")
    @ValueSource(ints = {400, 404, 500})
    void errorsDoNot(int status) {
        assertEquals(List.of(), invalidated("POST", status, "Cache-Group-Invalidation: \"a\""));
    }

    @Test
    void rfc9875Section3AMalformedListInvalidatesNothing() {
        assertEquals(List.of(), invalidated("POST", 200, "Cache-Group-Invalidation: \"a\", b"));
    }

    @Test
    void anInvalidationDecidesBeforeFreshness() {
        StoredHead stored = Heads.stored("Cache-Control: max-age=60").withStamp(5, Heads.target(URL), null);
        assertSame(Reuse.FRESH, Reuse.of(Heads.get(), stored, NOW, CacheSettings.DEFAULTS));
        Reuse gone = Reuse.of(Heads.get(), stored, NOW, CacheSettings.DEFAULTS, Outdated.BY_HOST);
        assertEquals(new Reuse.Invalidated(Outdated.BY_HOST), gone);
        Reuse stale = Reuse.of(Heads.get(), stored, NOW, CacheSettings.DEFAULTS, Outdated.STALE_BY_HOST);
        assertEquals(new Reuse.Invalidated(Outdated.STALE_BY_HOST), stale);
    }
}
