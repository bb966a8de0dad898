package io.millrace.proxy.admin.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.PurgeRights;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.purge.pattern.PurgedPattern;
import io.millrace.proxy.remap.RemapTable;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SitePatternsTest {
    private static final String A = "{map: 'http://a.example/', to: 'http://o'}";
    private static final String B = "{map: 'http://b.example/', to: 'http://o'}";

    /** Rules, each a flow mapping of YAML; A and B stand for rules of a.example and b.example. */
    private static RemapTable table(String rules) {
        String text = "listen: [':1']\nremap: [" + rules.replace("A", A).replace("B", B) + "]\n";
        ConfigResult result = ConfigLoader.parse(text, "millrace.yaml", Map.of());
        assertTrue(result.config() != null, result.text());
        return RemapTable.of(Objects.requireNonNull(result.config()));
    }

    private static PurgedPattern parsed(String expression) {
        try {
            return PurgedPattern.parse(expression, false);
        } catch (ExpressionException e) {
            throw new AssertionError(e);
        }
    }

    private static String limited(String sites, String rules) throws AdminException {
        return limited(sites, rules, "age > 1d");
    }

    private static String limited(String sites, String rules, String expression) throws AdminException {
        PurgeRights rights = new PurgeRights(Set.of(sites.split(" ")), Set.of());
        AdminCaller caller = new AdminCaller(-1, "t", "127.0.0.1", rights);
        String limited = SitePatterns.limited(parsed(expression), caller, table(rules));
        String end = ") && (" + expression + ")";
        assertTrue(limited.startsWith("host in (") && limited.endsWith(end), limited);
        return limited.substring("host in (".length(), limited.length() - end.length())
                .replace("\"", "");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a.example           | A, B | a.example",
                "a.example b.example | A, B | a.example, b.example",
                "c.example           | A | c.example",
                "shop | A, {map: 'http://s.example:8080/', to: 'http://o', site: shop} | s.example:8080",
                "shop | A, {map: 'https://s.example/', to: 'http://o', site: shop} | s.example",
                "a.example | {map: /, to: 'http://o'} | a.example",
                "a.example | B, {map: 'http://a.example/', to: 'http://o', cache: {key: {host: key.example}}} | a.example, key.example"
            })
    void hosts(String sites, String rules, String hosts) throws AdminException {
        assertEquals(hosts, limited(sites, rules));
    }

    /** A host for which the expression cannot hold needs no right. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "host == 'a.example' | a.example",
                "host in ('a.example', 'none.example') && age > 1d | a.example",
                "!(host != 'a.example') | a.example",
                "host =~ '^a' && path == '/' | a.example",
                "host == 'k.example' | a.example, k.example"
            })
    void onlyHostsForWhichTheExpressionCouldHold(String expression, String hosts) throws AdminException {
        String key = "cache: {key: {host: k.example}}}";
        String rules = hosts.contains("k.example")
                ? "{map: 'http://a.example/', to: 'http://o', " + key + ", B"
                : "A, {map: 'http://s.example/', to: 'http://o', site: shop}, {map: 'http://s.example/b', to: 'http://o',"
                        + " site: other}";
        assertEquals(hosts, limited("a.example shop", rules, expression));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a.example | A, B | host == 'b.example' | the purge by pattern cannot be limited to them: the expression holds for no host of these",
                "shop      | {map: /, to: 'http://o', site: shop} | age > 1d | the purge by pattern cannot be limited to them: a rule of the site shop has no fixed host",
                "shop      | {regex_map: 'http://(.*)[.]example/', to: 'http://o', site: shop} | age > 1d | the purge by pattern cannot be limited to them: a rule of the site shop has no fixed host",
                "a.example | A, {map: 'http://a.example/s/', to: 'http://o', site: shop} | age > 1d | does not allow a purge of shop;",
                "a.example | {map: 'http://a.example/', to: 'http://o', cache: {key: {host: b.example}}}, B | age > 1d | does not allow a purge of b.example;",
                "a.example | {map: 'http://a.example/', to: 'http://o', cache: {key: {host: k}}}, {map: 'http://b.example/', to: 'http://o', cache: {key: {host: k}}} | age > 1d | does not allow a purge of b.example;",
                "a.example | A, {map: 'http://b.example/', to: 'http://o', cache: {key: {host: a.example}}} | age > 1d | does not allow a purge of b.example;",
                "a.example | A, {regex_map: 'http://b.*[.]example/', to: 'http://o', cache: {key: {host: a.example}}} | age > 1d | does not allow a purge of b.*[.]example;"
            })
    void refused(String sites, String rules, String expression, String reason) {
        AdminException refused = assertThrows(AdminException.class, () -> limited(sites, rules, expression));
        assertEquals(403, refused.status());
        assertEquals("site-refused", refused.code());
        assertTrue(refused.message().startsWith("token 't' "), refused.message());
        assertTrue(refused.message().contains(reason), refused.message());
        assertTrue(refused.message().endsWith("; nothing was purged"));
    }
}
