package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Records of purges of the packed product: by command and by request, before and after a killed worker and a roll. */
@Tag("nightly")
class PurgeRecordsTest {
    private static final String FRESH = "Cache-Control: max-age=600";

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private MillraceProcess proxy;

    private RawResponse send(String method, String target, String fields) throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            return client.send(method + " " + target + " HTTP/1.1\r\nHost: site.example\r\n" + fields + "\r\n")
                    .response();
        }
    }

    private boolean isStored(String path) throws IOException {
        int before = origin.count(path);
        send("GET", path, "");
        return origin.count(path) == before;
    }

    private List<String> identifiers() {
        List<String> identifiers = new ArrayList<>();
        for (String line :
                proxy.millctl("purge", "list").succeeds().out().lines().toList()) {
            identifiers.add(line.split(" ", 2)[0]);
        }
        return identifiers;
    }

    @Test
    void recordsAndUndoSurviveAKilledWorkerAndARoll() throws Exception {
        origin.serves("/a", "content", FRESH);
        proxy = product.launch().origin(origin.url()).shortWarmUp().start();
        send("GET", "/a", "");
        assertTrue(isStored("/a"));
        proxy.millctl("purge", "--host", "site.example", "--soft").succeeds();
        assertEquals(200, send("PURGE", "/none/.*", "").status());
        List<String> identifiers = identifiers();
        assertEquals(2, identifiers.size());
        String soft = identifiers.get(1);
        String shown = proxy.millctl("purge", "show", soft).succeeds().out();
        Object uid = Files.getAttribute(proxy.state(), "unix:uid");
        assertTrue(shown.contains("user " + uid), shown);

        long worker = proxy.worker().pid();
        proxy.killWorker();
        proxy.awaitWorkerAfter(worker);
        assertEquals(identifiers, identifiers());
        proxy.millctl("purge", "undo", soft).succeeds();
        assertTrue(isStored("/a"));
        Command again = proxy.millctl("purge", "undo", soft);
        assertEquals(1, again.exitCode(), again.toString());
        assertTrue(again.err().contains("already-undone"), again.err());

        proxy.millctl("server", "restart").succeeds();
        assertEquals(identifiers, identifiers());
        assertTrue(isStored("/a"));
        Command dryRun = proxy.millctl("purge", "--host", "site.example", "--dry-run", "-o", "json")
                .succeeds();
        assertTrue(dryRun.out().contains("\"state\":\"done\",\"objects\":"), dryRun.out());
        assertEquals(1, proxy.millctl("purge", "show", "s1").exitCode());
    }
}
