package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests that a group of origins that is down is an alarm: in the list, as an event, and for the operator's program. */
@Tag("nightly")
class AlarmsTest {
    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static List<String> linesOf(Path file) throws IOException {
        return Files.exists(file) ? Files.readAllLines(file) : List.of();
    }

    @Test
    void programRunsWhenAGroupGoesDownAndWhenItIsBack() throws Exception {
        origin.serves("/", "one", "Cache-Control: no-store");
        Path directory = product.newDirectory();
        Path got = directory.resolve("got");
        Path program = directory.resolve("page");
        Files.writeString(
                program,
                "#!/bin/sh\necho \"$MILLRACE_ALARM $MILLRACE_ALARM_STATE $MILLRACE_ALARM_SUBJECT\" >> " + got + "\n");
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path config = directory.resolve("millrace.yaml");
        Files.writeString(config, """
                origins:
                  - {name: shop, hosts: ["%s"]}
                remap:
                  - {map: /, to: "http://shop.internal/", origins: shop}
                alarms: {exec: {command: "%s", runs_per_minute: 60}}
                """.formatted(origin.url(), program));
        MillraceProcess proxy = product.launch().config(config).start();
        assertEquals(
                "no alarms", proxy.millctl("alarm", "list").succeeds().out().strip());
        proxy.millctl("origin", "down", "shop", "--reason", "deploy").succeeds();
        Awaitility.await().until(() -> linesOf(got).contains("origin-group-down raised shop"));
        String listed = proxy.millctl("alarm", "list").succeeds().out();
        assertTrue(listed.contains("origin-group-down"), listed);
        assertTrue(listed.contains("shop: its only host is down"), listed);
        proxy.millctl("origin", "up", "shop").succeeds();
        Awaitility.await().until(() -> linesOf(got).contains("origin-group-down cleared shop"));
        String events = proxy.millctl("events", "--kind", "alarm-raised,alarm-cleared")
                .succeeds()
                .out();
        assertTrue(events.contains("alarm-raised"), events);
        assertTrue(events.contains("alarm-cleared"), events);
    }
}
