package io.millrace.acme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the operator's program: its arguments, its failures and its end. */
class DnsHookTest {
    @TempDir
    Path directory;

    private DnsHook hook(String body) throws IOException {
        Path program = Files.writeString(
                directory.resolve("hook"), "#!/bin/sh\necho \"$@\" >> " + directory.resolve("calls") + "\n" + body);
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        return new DnsHook(program, TimeUnit.SECONDS.toNanos(60));
    }

    private List<String> calls() throws IOException {
        return Files.readAllLines(directory.resolve("calls"));
    }

    @Test
    void programGetsVerbRecordAndValue() throws Exception {
        DnsHook hook = hook("exit 0\n");
        hook.present("_acme-challenge.example.com.", "a value; $(x)");
        hook.cleanUp("_acme-challenge.example.com.", "a value; $(x)");
        assertEquals(
                List.of(
                        "present _acme-challenge.example.com. a value; $(x)",
                        "cleanup _acme-challenge.example.com. a value; $(x)"),
                calls());
    }

    @Test
    void failureIsReportedInShortAndLeavesNoRecord() throws Exception {
        DnsHook hook = hook("if [ $1 = present ]; then head -c 100000 /dev/zero | tr '\\0' x; exit 3; fi\n");
        IOException failure = assertThrows(IOException.class, () -> hook.present("r", "v"));
        String message = String.valueOf(failure.getMessage());
        assertTrue(message.contains("present ended with exit code 3: xxx") && message.length() < 1000, message);
        assertEquals(List.of("present r v", "cleanup r v"), calls());
    }

    @Test
    void programThatDoesNotEndIsKilledWithItsChildren() throws Exception {
        Path child = directory.resolve("child");
        DnsHook waiting = hook("if [ $1 = present ]; then tail -f /dev/null & echo $! > " + child + "; wait; fi\n");
        IOException failure = assertThrows(
                IOException.class, () -> new DnsHook(waiting.program(), TimeUnit.SECONDS.toNanos(3)).present("r", "v"));
        assertTrue(String.valueOf(failure.getMessage()).contains("dns_hook_timeout"), failure::getMessage);
        long pid = Long.parseLong(Files.readString(child).strip());
        Awaitility.await()
                .until(() ->
                        ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty());
    }
}
