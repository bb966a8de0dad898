package io.millrace.launcher.squid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.ImportResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that conditions of rules do not compare the address of a load balancer with lists of clients. */
final class ForwardedClientsTest {
    private static final String START = "http_port 80 accel vhost\ncache_peer 10.0.0.20 parent 80 0 originserver\n"
            + "acl office src 192.0.2.0/24\nacl admin urlpath_regex ^/admin\nacl old browser Old\n";
    private static final String END = "http_access deny admin !office\nhttp_access allow all\n";

    @TempDir
    Path directory;

    private ImportResult read(String lines) throws IOException {
        ImportResult result = SquidImport.read(Files.writeString(directory.resolve("squid.conf"), START + lines + END));
        assertNotNull(result.yaml());
        return result;
    }

    private static boolean isWarned(ImportResult result) {
        return result.warnings().stream().anyMatch(each -> each.contains("are not refused"));
    }

    @Test
    void listsOfClientsBehindAProxyAreNotMapped() throws IOException {
        ImportResult result = read(
                "follow_x_forwarded_for allow all\ncache deny office\n" + "reply_header_add X-Office yes office\n");
        assertEquals(-1, result.yaml().indexOf("192.0.2.0"), result.yaml());
        assertTrue(isWarned(result), () -> result.warnings().toString());
    }

    @Test
    void listsOfClientsWithoutAProxyAreMapped() throws IOException {
        ImportResult direct = read("");
        assertTrue(direct.yaml().contains("!(client in (\"192.0.2.0/24\"))"), direct.yaml());
        ImportResult off = read("follow_x_forwarded_for allow all\nacl_uses_indirect_client off\n");
        assertTrue(off.yaml().contains("!(client in (\"192.0.2.0/24\"))"), off.yaml());
    }

    @Test
    void anExpressionWithAnotherMeaningIsNotMapped() throws IOException {
        ImportResult result = read("acl bots browser \\<bot\nhttp_access deny bots\n");
        assertEquals(-1, result.yaml().indexOf("User-Agent"), result.yaml());
        assertTrue(isWarned(result), () -> result.warnings().toString());
    }
}
