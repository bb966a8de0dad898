package io.millrace.launcher.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.TestKeys;
import io.millrace.proxy.admin.access.AdminAccess;
import io.millrace.proxy.admin.access.AdminToken;
import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import io.millrace.proxy.admin.config.ConfigControl.Result;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each setting of tokens and TLS, changed in the file of a running launcher: the next request finds the new value. */
class AdminSettingsTest extends ConfigChangesFixture {
    @BeforeEach
    void writeFiles() throws Exception {
        TestKeys.ofLocalhost(Files.createDirectory(directory.resolve("keys")));
        secret("t1");
        secret("t2");
    }

    private void secret(String name) throws IOException {
        Path secret = Files.writeString(directory.resolve(name), content(name));
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
    }

    private static String content(String name) {
        return "token-of-sixteen-" + name;
    }

    private static final String TLS = "certificate: keys/CERTIFICATE.pem, key: keys/PRIVATE-KEY.pem";
    private static final String LIMITED = "name: a, file: t1, role: purger, requests_per_minute: 1";
    private static final String CA = ", client_ca_file: keys/CERTIFICATE.pem";

    /** The key, with the section {@code admin} before and after the change. */
    static List<Map<String, List<String>>> changes() {
        return List.of(
                Map.of("admin.token_file", List.of("token_file: t1", "token_file: t2")),
                Map.of("admin.tokens", tokens("name: a, file: t1, role: purger}, {name: b, file: t2, role: viewer")),
                Map.of("admin.tokens[].name", tokens("name: b, file: t1, role: purger")),
                Map.of("admin.tokens[].file", tokens("name: a, file: t2, role: purger")),
                Map.of("admin.tokens[].role", tokens("name: a, file: t1, role: viewer")),
                Map.of("admin.tokens[].sites", tokens("name: a, file: t1, role: purger, sites: [a.example]")),
                Map.of("admin.tokens[].kinds", tokens("name: a, file: t1, role: purger, kinds: [tag]")),
                Map.of("admin.tokens[].requests_per_minute", tokens(LIMITED)),
                Map.of("admin.tls.certificate", tls("", TLS)),
                Map.of("admin.tls.key", tls("", TLS)),
                Map.of("admin.tls.client_ca_file", tls(TLS, TLS + CA)),
                Map.of("admin.tls.client_revocation_file", tls(TLS + CA, TLS + CA + ", client_revocation_file: t1")));
    }

    private static List<String> tokens(String after) {
        return List.of("tokens: [{name: a, file: t1, role: purger}]", "tokens: [{" + after + "}]");
    }

    private static List<String> tls(String before, String after) {
        return List.of(
                before.isEmpty() ? "token_file: t1" : "token_file: t1, tls: {" + before + "}",
                "token_file: t1, tls: {" + after + "}");
    }

    @ParameterizedTest
    @MethodSource("changes")
    void changeIsInForceForTheNextRequest(Map<String, List<String>> change) throws Exception {
        String key = change.keySet().iterator().next();
        List<String> sections = change.get(key);
        run(text(sections.get(0)));
        AdminAccess access = AdminAccess.of(running.config().admin());
        running.onApplied(config -> access.apply(config.admin()));
        String before = seen(access);
        Files.writeString(file, text(sections.get(1)));
        ReloadReport report = done(changes.reload());
        assertTrue(report.ok(), report.toString());
        assertEquals(Result.APPLIED, results(report).get(key.replaceFirst("\\[.*", "")), report.toString());
        if (key.endsWith("revocation_file")) {
            // The file is read: it has no list.
            assertTrue(
                    report.notes().toString().contains("has no revocation list"),
                    report.notes().toString());
        } else {
            assertEquals(List.of(), report.notes());
            assertNotEquals(before, seen(access));
        }
    }

    private static String text(String section) {
        return FILE + "admin: {listen: '127.0.0.1:9', " + section + "}\n";
    }

    /** Returns the tokens and the use of TLS as a request would find them. */
    private static String seen(AdminAccess access) {
        StringBuilder seen = new StringBuilder();
        for (String name : List.of("t1", "t2")) {
            AdminToken token = access.find(content(name));
            seen.append(
                    token == null
                            ? " none"
                            : " " + token.name() + token.role() + token.purgeRights() + token.requestsPerMinute());
        }
        SslHandler handler = access.newTlsHandler(UnpooledByteBufAllocator.DEFAULT, Duration.ofSeconds(1));
        return seen + (handler == null ? " clear" : " tls " + handler.engine().getNeedClientAuth());
    }
}
