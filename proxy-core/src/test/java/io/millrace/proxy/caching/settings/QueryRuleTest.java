package io.millrace.proxy.caching.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.millrace.proxy.caching.Heads;
import io.millrace.proxy.http.TargetUri;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class QueryRuleTest {
    private static final long SEED = 20_261_122;
    private static final QueryRule TRACKING =
            new QueryRule(false, List.of(), List.of("utm_*", "gclid", QueryRule.nameOf("größe")), false);
    private static final QueryRule ID_AND_PAGE = new QueryRule(false, List.of("id", "page"), List.of(), false);
    private static final QueryRule SORTED = new QueryRule(false, List.of(), List.of(), true);

    private static String apply(QueryRule rule, String query) {
        return rule.apply(Heads.target("http://a.example/p" + query)).pathAndQuery();
    }

    @ParameterizedTest(name = "excluding utm_*, gclid and größe: \"{0}\" becomes \"{1}\"")
    @CsvSource({
        "?utm_source=x,                /p",
        "?utm_source=x&a=1,            /p?a=1",
        "?a=1&utm_source=x&b=2,        /p?a=1&b=2",
        "?a=1&utm_=x,                  /p?a=1",
        "?gclid,                       /p",
        "?gclid=,                      /p",
        "?gclidx=1,                    /p?gclidx=1",
        "?GCLID=1,                     /p?GCLID=1",
        "?xutm_source=1,               /p?xutm_source=1",
        "?gr%C3%B6%c3%9Fe=1&a,         /p?a",
        "?a=1&a=2&utm_a=3&a=1,         /p?a=1&a=2&a=1",
        "?a=utm_source=1,              /p?a=utm_source=1",
        "?=utm_source,                 /p?=utm_source",
        "?a=1#,                        ",
        "?&&a=1&,                      /p?a=1",
        "?&,                           /p",
        "?,                            /p",
        "'',                           /p",
    })
    void omitsExcludedParameters(String query, String expected) {
        if (expected != null) {
            assertEquals(expected, apply(TRACKING, query));
        }
    }

    /** However an origin interprets these, it receives the query that the key contains. */
    @ParameterizedTest(name = "cloaked: \"{0}\" becomes \"{1}\"")
    @CsvSource({
        "?utm_content=x;id=evil,       /p",
        "?id=1;utm_content=x,          /p?id=1;utm_content=x",
        "?id=1&utm_content=x;id=evil,  /p?id=1",
        "?%75tm_content=evil,          /p",
        "?utm%5Fcontent=evil,          /p",
        "?utm%5fcontent=evil&%67clid,  /p",
        "?utm%5content=1,              /p?utm%5content=1",
        "?utm%,                        /p?utm%",
        "?utm_%=1,                     /p",
        "?%2575tm_content=1,           /p?%2575tm_content=1",
        "?id=1%26utm_a=2,              /p?id=1%26utm_a=2",
        "?id=1?utm_a=2,                /p?id=1?utm_a=2",
        "?gclid%00=1,                  /p?gclid%00=1",
        "?gclid+=1,                    /p?gclid+=1",
        "?gclid[]=1,                   /p?gclid[]=1",
    })
    void spellingsThatHideAParameterAreKeptOrLeftOutAsAWhole(String query, String expected) {
        assertEquals(expected, apply(TRACKING, query));
    }

    @ParameterizedTest(name = "including id and page: \"{0}\" becomes \"{1}\"")
    @CsvSource({
        "?id=1,                        /p?id=1",
        "?page=2&x=3&id=1,             /p?page=2&id=1",
        "?id=1&id=2,                   /p?id=1&id=2",
        "?%69d=1,                      /p?%69d=1",
        "?ID=1,                        /p",
        "?id%3D1=2,                    /p",
        "?x=1;id=2,                    /p",
        "?id=1;x=2,                    /p?id=1;x=2",
    })
    void keepsIncludedParameters(String query, String expected) {
        assertEquals(expected, apply(ID_AND_PAGE, query));
    }

    @ParameterizedTest(name = "sorted: \"{0}\" becomes \"{1}\"")
    @CsvSource({
        "?b=1&a=2,                     /p?a=2&b=1",
        "?a=2&b=1,                     /p?a=2&b=1",
        "?a=2&a=1,                     /p?a=2&a=1",
        "?b=1&a=2&b=0&a=1,             /p?a=2&a=1&b=1&b=0",
        "?id=2&%69d=1,                 /p?id=2&%69d=1",
        "?%69d=2&id=1,                 /p?%69d=2&id=1",
        "?ab=1&a=1,                    /p?a=1&ab=1",
        "?b&a,                         /p?a&b",
        "?b=1;c&a=2,                   /p?b=1;c&a=2",
        "?b=1&&a=2,                    /p?a=2&b=1",
    })
    void sortsByNameAndLeavesThoseOfOneNameInTheirOrder(String query, String expected) {
        assertEquals(expected, apply(SORTED, query));
    }

    @Test
    void excludedCountsBesideIncluded() {
        QueryRule both = new QueryRule(false, List.of("a_*"), List.of("a_debug"), true);
        assertEquals("/p?a_a=2&a_b=1", apply(both, "?a_b=1&a_debug=1&x=1&a_a=2"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?", "?a", "?a=1&b=2#", "?;;", "?&"})
    void ignoredQueryIsGone(String query) {
        assertEquals("/p", apply(new QueryRule(true, List.of("a"), List.of(), true), query.replace("#", "")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?a=1&b=2", "?a", "?a=%41&b"})
    void urlThatNeedsNoChangeIsTheSameInstance(String query) {
        TargetUri url = Heads.target("http://a.example/p" + query);
        assertSame(url, TRACKING.apply(url));
        assertSame(url, SORTED.apply(url));
        assertSame(url, QueryRule.WHOLE.apply(url));
    }

    @Test
    void pathIsUnchanged() {
        TargetUri url = Heads.target("http://a.example/%7e/%2f/./x?gclid=1");
        assertEquals("http://a.example/%7e/%2f/./x", TRACKING.apply(url).asString());
    }

    /** The result of a rule is normalized: applying the rule again does not change it. */
    @Test
    void applyingARuleTwiceIsApplyingItOnce() {
        Random random = new Random(SEED);
        List<QueryRule> rules = List.of(
                TRACKING, ID_AND_PAGE, SORTED, new QueryRule(false, List.of("i*", "page"), List.of("id"), true));
        String alphabet = "aid&&&=;%2675utm_gclpe";
        for (int round = 0; round < 20_000; round++) {
            StringBuilder query = new StringBuilder("?");
            for (int i = random.nextInt(24); i > 0; i--) {
                query.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            for (QueryRule rule : rules) {
                String once = apply(rule, query.toString());
                String again = apply(rule, once.substring(2));
                assertEquals(once, again, "seed " + SEED + " round " + round + ": " + query);
                assertEquals(parameters(rule, query), parameters(rule, once), "seed " + SEED + " round " + round);
            }
        }
    }

    /**
     * Returns the parameters of a query that a rule keeps, computed in the simplest way, in the order of their text.
     */
    private static List<String> parameters(QueryRule rule, CharSequence query) {
        List<String> kept = new ArrayList<>();
        String text = query.toString();
        int mark = text.indexOf('?');
        for (String parameter :
                mark < 0 ? new String[0] : text.substring(mark + 1).split("&", -1)) {
            if (apply(rule, "?" + parameter).equals("/p?" + parameter)) {
                kept.add(parameter);
            }
        }
        String[] sorted = kept.toArray(String[]::new);
        Arrays.sort(sorted);
        return List.of(sorted);
    }
}
