package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests {@code signed_urls}, {@code basic_auth}, {@code jwt}, {@code authorize} and {@code error_pages} in the file. */
class ConfigGuardsTest {
    @TempDir
    Path directory;

    @BeforeEach
    void writeFiles() throws Exception {
        Files.writeString(directory.resolve("keys"), "key0 = secret\n");
        Files.writeString(directory.resolve("users"), "a:$apr1$x$y\n");
        Files.writeString(directory.resolve("large"), "x".repeat(64 * 1024 + 1));
    }

    private ConfigResult read(String text) {
        return ConfigLoader.parse(
                "listen: [':1']\nremap: [{map: /, to: 'http://o/'}]\n" + text, "m.yaml", directory, Map.of());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "signed_urls: {keys: none} # signed_urls.keys: @/none: no such file",
                "signed_urls: {keys: .} # signed_urls.keys: @ is a directory, not a file",
                "signed_urls: {keys: users} # signed_urls.keys: @/users:1: is not of the form NAME = VALUE",
                "signed_urls: {keys: keys, when: 'status == 1'} # signed_urls.when: reads status, which is known only",
                "signed_urls: {keys: keys, when: 'a == 1'} # signed_urls.when: 1:1: unknown field 'a'",
                "signed_urls: {url: origin} # signed_urls.url: has no effect without signed_urls.keys",
                "basic_auth: {file: users} # basic_auth.file: @/users:1: the password of a is not a bcrypt hash",
                "basic_auth: {realm: a} # basic_auth.realm: has no effect without basic_auth.file",
                "basic_auth: {realm: 'a\"b'} # basic_auth.realm: has a quote, a backslash, or a character other",
                "jwt: {keys_file: users} # jwt.keys_file: @/users: is not a JSON Web Key Set",
                "jwt: {keys_url: 'http://issuer.example/k'} # jwt.keys_url: needs https://, or http:// with a loopback",
                "jwt: {keys_url: 'https://a:b@issuer.example/k'} # jwt.keys_url: must not contain a user",
                "jwt: {keys_url: 'https://a', required_claims: [a]} # jwt.required_claims: a: is not of the form",
                "jwt: {keys_url: 'https://a', realm: 'a\"b'} # jwt.realm: has a quote, a backslash, or a character",
                "jwt: {issuer: a} # jwt.issuer: has no effect without jwt.keys_file or jwt.keys_url",
                "jwt: {audience: [a]} # jwt.audience: has no effect without jwt.keys_file or jwt.keys_url",
                "jwt: {required_claims: [a=b]} # jwt.required_claims: has no effect without jwt.keys_file",
                "jwt: {cookie: a} # jwt.cookie: has no effect without jwt.keys_file or jwt.keys_url",
                "jwt: {forward: true} # jwt.forward: has no effect without jwt.keys_file or jwt.keys_url",
                "jwt: {realm: a} # jwt.realm: has no effect without jwt.keys_file or jwt.keys_url",
                "jwt: {clock_skew: 1s} # jwt.clock_skew: has no effect without jwt.keys_file or jwt.keys_url",
                "jwt: {when: 'path == \"/\"'} # jwt.when: has no effect without jwt.keys_file or jwt.keys_url",
                "authorize: {url: 'ftp://a/'} # authorize.url: needs http:// or https:// and a host",
                "authorize: {url: 'http://a b/'} # authorize.url: is not a URL",
                "authorize: {url: 'http://u:p@a/'} # authorize.url: must not contain a user",
                "authorize: {url: 'http://a:70000/'} # authorize.url: has the port 70000, limit=1..65535",
                "authorize: {url: 'http://a', send_fields: [Host]} # authorize.send_fields: Host: cannot be sent",
                "authorize: {url: 'http://a', send_fields: [Range]} # authorize.send_fields: Range: cannot be sent",
                "authorize: {url: 'http://a', receive_fields: [TE]} # authorize.receive_fields: TE: cannot be set",
                "authorize: {url: 'http://a', receive_fields: [X_Forwarded_User]} #"
                        + " authorize.receive_fields: X_Forwarded_User: cannot be set, since origins take it",
                "authorize: {url: 'http://a', cache_key: [port]} # authorize.cache_key: 'port' is none of method",
                "authorize: {url: 'http://a', cache_key: [url, url]} # authorize.cache_key: has url twice",
                "authorize: {url: 'http://a', when: 'status == 1'} # authorize.when: reads status, which is known only",
                "authorize: {url: 'http://a', ttl: 25h} # authorize.ttl: ",
                "authorize: {url: 'http://a', on_error: half} # authorize.on_error: ",
                "authorize: {url: 'http://a', send_fields: [Cookie], forward: true} #"
                        + " authorize.forward: has no effect, since authorize.send_fields does not have Authorization",
                "authorize: {ttl: 1m} # authorize.ttl: has no effect without authorize.url",
                "geo: {database: none} # geo.database: @/none: no such file",
                "geo: {database: users} # geo.database: @/users is not a MaxMind DB file",
                "geo: {country_field: Forwarded} # geo.country_field: Forwarded: cannot be set, since origins take it",
                "geo: {country_field: X-A} # geo.country_field: has no effect without geo.database",
                "rules: [{when: 'country == \"DE\"', bypass: true}] #"
                        + " rules[0].when: reads country, which needs geo.database",
                "request_limits: [{name: a, rate: 1/s, when: 'asn == 1'}] #"
                        + " request_limits[0].when: reads asn, which needs geo.asn_database",
                "authorize: {url: 'http://a', when: 'continent == \"EU\"'} # authorize.when: reads continent, which",
                "error_pages: [{status: 404}] # error_pages[0].file: missing; it takes",
                "error_pages: [{file: keys}] # error_pages[0].status: missing; it takes",
                "error_pages: [{status: 200, file: keys}] # error_pages[0].status: 200 is no error; pages are for 400",
                "error_pages: [{status: 404, file: large}] # error_pages[0].file: @/large has 65537 bytes, limit=65536",
                "error_pages: [{status: 404, file: keys, set_response_header: {Date: a}}] #"
                        + " error_pages[0].set_response_header: Date: cannot be set",
                "error_pages: [{status: 404, file: keys}, {status: 404, file: keys}] # error_pages[1].status: 404"
                        + " already has a page, error_pages[0]",
            })
    void faultsHaveTheirPlace(String text, String message) {
        ConfigResult result = read(text);
        assertNull(result.config());
        String expected = message.replace("@", directory.toString());
        assertTrue(
                result.text().matches("(?s)m\\.yaml:3:\\d+: .*")
                        && result.text().contains(expected),
                result::text);
    }

    private ConfigResult readRule(String rule, String general) {
        String text = "listen: [':1']\nremap: [{map: /, to: 'http://o/', jwt: " + rule + "}]\n" + general;
        return ConfigLoader.parse(text, "m.yaml", directory, Map.of());
    }

    @Test
    void settingsOfTokensNeedKeysGloballyOrInARule() {
        String keys = "{keys_url: 'https://issuer.example/k'}";
        assertNotNull(readRule(keys, "jwt: {issuer: a, when: 'path == \"/\"'}").config());
        assertNotNull(readRule("{issuer: a}", "jwt: " + keys).config());
        assertNotNull(readRule("{enabled: false}", "").config());
        ConfigResult unused = readRule("{issuer: a, cookie: b}", "");
        assertTrue(unused.text().contains("remap[0].jwt.issuer: has no effect"), unused::text);
        assertTrue(unused.text().contains("remap[0].jwt.cookie: has no effect"), unused::text);
    }

    @Test
    void settingsOfAuthorisationNeedAServerGloballyOrInARule() {
        String rule = "listen: [':1']\nremap: [{map: /, to: 'http://o/', authorize: @}]\n";
        String url = "{url: 'http://auth.example/'}";
        for (String text : new String[] {
            rule.replace("@", url) + "authorize: {ttl: 1m}",
            rule.replace("@", "{ttl: 1m}") + "authorize: " + url,
            rule.replace("@", "{enabled: false}")
        }) {
            ConfigResult result = ConfigLoader.parse(text, "m.yaml", directory, Map.of());
            assertNotNull(result.config(), result::text);
        }
        ConfigResult unused = ConfigLoader.parse(rule.replace("@", "{ttl: 1m}"), "m.yaml", directory, Map.of());
        assertTrue(unused.text().contains("remap[0].authorize.ttl: has no effect"), unused::text);
    }

    @Test
    void aRuleHasEitherPasswordsOrTokens() throws Exception {
        Files.writeString(
                directory.resolve("users"), "one:$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe\n");
        ConfigResult both = read("basic_auth: {file: users}\njwt: {keys_url: 'https://issuer.example/k'}");
        assertNull(both.config());
        assertTrue(both.text().contains("a request cannot have a password and a token"), both::text);
        ConfigResult one =
                read("basic_auth: {file: users, enabled: false}\njwt: {keys_url: 'https://issuer.example/k'}");
        assertNotNull(one.config(), one::text);
    }

    @Test
    void aChangedFileIsAChange() throws Exception {
        ConfigResult before = read("signed_urls: {keys: keys}");
        assertNotNull(before.config(), before::text);
        assertEquals(before.config(), read("signed_urls: {keys: keys}").config());
        Files.writeString(directory.resolve("keys"), "key0 = other\n");
        ConfigResult after = read("signed_urls: {keys: keys}");
        assertNotEquals(before.config(), after.config());
        assertEquals(
                "signed_urls.keys",
                ConfigChange.between(before.config(), after.config()).get(0).key());
    }
}
