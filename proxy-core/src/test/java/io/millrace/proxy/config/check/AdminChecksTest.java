package io.millrace.proxy.config.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.yaml.ConfigLoader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Problems of tokens and TLS of the admin API, with the key and the reason. */
class AdminChecksTest {
    private static final String RULES = """
            listen: [':1']
            remap:
            - {map: 'http://a.example/', to: 'http://o/'}
            - {map: 'http://b.example/', to: 'http://o/', site: shop}
            """;

    @TempDir
    Path directory;

    @BeforeEach
    void writeFiles() throws IOException {
        secret("t1", "0123456789abcdef");
        secret("t2", "0123456789abcdeg");
        secret("same", "0123456789abcdef");
        secret("empty", "");
        secret("cert.pem", "");
        secret("key.pem", "");
    }

    private void secret(String name, String content) throws IOException {
        Path file = Files.writeString(directory.resolve(name), content);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    private String problems(String rules, String admin) {
        String text = rules + "admin: {" + admin.replace('\'', '"') + "}\n";
        return ConfigLoader.parse(text, "m.yaml", directory, Map.of()).text().replace(directory + "/", "");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "listen: '127.0.0.1:2', tokens: [{name: a, file: t1, role: viewer}]",
                "listen: '[::1]:2', token_file: t1, tokens: [{name: a, file: t2, role: purger, sites: [A.example, shop], kinds: [url, TAG], requests_per_minute: 60}]",
                "listen: ':2', tls: {certificate: cert.pem, key: key.pem}, token_file: t1",
                "listen: ':2', tls: {certificate: cert.pem, key: key.pem, client_ca_file: cert.pem, client_revocation_file: cert.pem}, token_file: t1"
            })
    void acceptsWholeSettings(String admin) {
        assertEquals("", problems(RULES, admin));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "listen: ':2', token_file: t1 | admin.listen: the admin API at :2 needs admin.tls, because a token in clear text can be read on the network",
                "listen: '192.0.2.1:2', token_file: t1 | admin.listen: the admin API at 192.0.2.1:2 needs admin.tls",
                "listen: '127.0.0.1:2' | admin.listen: needs admin.token_file or admin.tokens",
                "tokens: [{name: a, file: t1, role: viewer}] | warning: admin.tokens: is not used: admin.listen is not set",
                "listen: '127.0.0.1:2', tokens: [{name: a, file: t1, role: purge}] | admin.tokens[0].role: 'purge' is none of viewer, purger, operator (did you mean purger?)",
                "listen: '127.0.0.1:2', tokens: [{name: a, role: viewer}] | admin.tokens[0].file: missing",
                "listen: '127.0.0.1:2', tokens: [{name: a, file: none, role: viewer}] | admin.tokens[0].file: none: the token file cannot be read, no such file",
                "listen: '127.0.0.1:2', tokens: [{name: a, file: empty, role: viewer}] | admin.tokens[0].file: empty: the token has 0 characters, at least 16 are needed",
                "listen: '127.0.0.1:2', tokens: [{name: a, file: t1, role: viewer}, {name: a, file: t2, role: viewer}] | admin.tokens[1].name: 'a' is also the name of admin.tokens[0]",
                "listen: '127.0.0.1:2', token_file: t2, tokens: [{name: admin, file: t1, role: viewer}] | admin.tokens[0].name: 'admin' is also the name of the token of admin.token_file",
                "listen: '127.0.0.1:2', tokens: [{name: dashboard, file: t1, role: viewer}] | admin.tokens[0].name: 'dashboard' is also the name of sessions of 'millctl dashboard'",
                "listen: '127.0.0.1:2', tokens: [{name: a, file: t1, role: viewer}, {name: b, file: same, role: operator}] | admin.tokens[1].file: same: has the same token as admin.tokens[0].file; each needs its own",
                "listen: '127.0.0.1:2', tokens: [{name: a b, file: t1, role: viewer}] | admin.tokens[0].name: 'a b' is not a name of 1 to 64 letters, digits, '-', '_' and '.'",
                "listen: '127.0.0.1:2', tokens: [{name: a, file: t1, role: viewer, sites: [shop]}] | admin.tokens[0].sites: is only for role: purger",
                "listen: '127.0.0.1:2', tokens: [{name: a, file: t1, role: operator, kinds: [url]}] | admin.tokens[0].kinds: is only for role: purger",
                "listen: '127.0.0.1:2', tokens: [{name: a, file: t1, role: purger, kinds: [tags]}] | admin.tokens[0].kinds: 'tags' is not a kind of purge: url, host, prefix, group, tag, pattern, all (did you mean tag?)",
                "listen: '127.0.0.1:2', tokens: [{name: a, file: t1, role: purger, sites: [shp]}] | admin.tokens[0].sites: no rule has the site 'shp'",
                "listen: '127.0.0.1:2', tokens: [{name: a, file: t1, role: purger, sites: [b.example]}] | admin.tokens[0].sites: no rule has the site 'b.example'",
                "listen: '127.0.0.1:2', tokens: [{name: a, file: t1, role: purger, sites: []}] | admin.tokens[0].sites: is empty",
                "listen: '127.0.0.1:2', tokens: [{name: a, file: t1, role: purger, kinds: []}] | admin.tokens[0].kinds: is empty",
                "listen: '127.0.0.1:2', tokens: [{name: a, file: t1, role: purger, kinds: }] | admin.tokens[0].kinds",
                "listen: '127.0.0.1:2', tokens: [{name: a, file: t1, role: purger, requests_per_minute: 0}] | admin.tokens[0].requests_per_minute: 0 is below the limit of 1",
                "listen: ':2', tls: {certificate: cert.pem}, token_file: t1 | admin.tls.key: missing; admin.tls.certificate and admin.tls.key go together",
                "listen: ':2', tls: {certificate: none.pem, key: key.pem}, token_file: t1 | admin.tls.certificate: none.pem: no such file",
                "listen: '127.0.0.1:2', tls: {client_ca_file: cert.pem}, token_file: t1 | admin.tls.client_ca_file: needs admin.tls.certificate and admin.tls.key",
                "listen: '127.0.0.1:2', tls: {certificate: cert.pem, key: key.pem, client_revocation_file: cert.pem}, token_file: t1 | admin.tls.client_revocation_file: needs admin.tls.client_ca_file"
            })
    void namesTheKeyAndTheReason(String admin, String expected) {
        String problems = problems(RULES, admin);
        assertTrue(problems.contains(expected), problems);
        assertEquals(1, problems.lines().count(), problems);
    }

    @Test
    void aRuleForEveryHostMakesEverySitePossible() {
        String rules = "listen: [':1']\nremap: [{map: /, to: 'http://o/'}]\n";
        String admin = "listen: '127.0.0.1:2', tokens: [{name: a, file: t1, role: purger, sites: [any.example]}]";
        assertEquals("", problems(rules, admin));
        String problems = problems(rules, admin.replace("any.example", "'a role'"));
        assertTrue(problems.contains("admin.tokens[0].sites: the host 'a role' contains ' '"), problems);
    }
}
