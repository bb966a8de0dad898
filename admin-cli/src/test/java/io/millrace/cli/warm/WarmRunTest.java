package io.millrace.cli.warm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.cli.warm.WarmResult.Effect;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WarmRunTest {
    private static final String INPUT = "--list /urls";

    @TempDir
    private Path directory;

    private static Feed feed(String... lines) {
        return feed(String.join("\n", lines));
    }

    private static Feed feed(String text) {
        return new Feed(LineUrls.list("urls", new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8))));
    }

    private static WarmRun.Options options(int concurrency) {
        return new WarmRun.Options(100_000, concurrency, List.of("Accept-Encoding: gzip"), Duration.ofSeconds(20));
    }

    private static WarmTally warm(ScriptedProxy proxy, Feed feed) throws IOException {
        WarmTally tally = new WarmTally();
        WarmRun run = new WarmRun(feed, List.of(proxy.endpoint()), options(2), tally, null, line -> {});
        assertEquals(WarmRun.End.COMPLETE, run.run());
        return tally;
    }

    private static String stored(String cacheStatus) {
        return ScriptedProxy.response(200, "Cache-Status: " + cacheStatus + "\r\n", "hello");
    }

    @Test
    void countsTheEffectOfEachResponse() throws IOException {
        try (ScriptedProxy proxy = new ScriptedProxy(url -> switch (url.substring(url.lastIndexOf('/'))) {
            case "/fresh" -> stored("millrace; hit; ttl=60");
            case "/stale" -> stored("millrace; hit; ttl=-3; detail=overload");
            case "/stored" -> stored("other; hit, millrace; fwd=uri-miss; fwd-status=200; stored");
            case "/joined" -> stored("millrace; fwd=uri-miss; fwd-status=200; collapsed");
            case "/confirmed" -> stored("millrace; fwd=stale; fwd-status=304; ttl=60");
            case "/private" ->
                ScriptedProxy.response(
                        200,
                        "Cache-Control: private\r\nCache-Status: millrace; fwd=uri-miss; fwd-status=200\r\n",
                        "hello");
            case "/bad" -> ScriptedProxy.response(502, "Cache-Status: millrace; fwd=uri-miss; detail=x\r\n", "");
            case "/broken" -> "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nfive";
            default -> ScriptedProxy.response(404, "", "no remap rule");
        })) {
            WarmTally tally = warm(
                    proxy,
                    feed(
                            "http://a.example/fresh",
                            "http://a.example/stale",
                            "http://a.example/stored",
                            "http://a.example/joined",
                            "http://a.example/confirmed",
                            "http://a.example/private",
                            "http://a.example/bad",
                            "http://b.example/",
                            "https://a.example/"));
            assertEquals(1, tally.of(Effect.FRESH));
            assertEquals(1, tally.of(Effect.STALE));
            assertEquals(2, tally.of(Effect.STORED));
            assertEquals(1, tally.of(Effect.REVALIDATED));
            assertEquals(1, tally.of(Effect.NOT_STORED));
            assertEquals(1, tally.of(Effect.ERROR));
            assertEquals(2, tally.of(Effect.NOT_SERVED));
            assertEquals(1, tally.failures());
            assertEquals(43, tally.bytes());
            String reasons = tally.reasons().toString();
            assertTrue(reasons.contains("fwd=uri-miss, Cache-Control: private"), reasons);
            assertTrue(reasons.contains("502 x"), reasons);
            assertTrue(reasons.contains("b.example"), reasons);
            assertTrue(reasons.contains("no listener for https"), reasons);
        }
    }

    @Test
    void sendsHostTargetAndFieldsAndKeepsConnections() throws IOException {
        try (ScriptedProxy proxy = new ScriptedProxy(url -> stored("millrace; hit; ttl=1"))) {
            warm(proxy, feed("http://A.Example:8080/ü?b=c#part"));
            assertEquals(
                    "GET /%C3%BC?b=c HTTP/1.1\nHost: a.example:8080\nAccept-Encoding: gzip\nUser-Agent: millctl\n"
                            + "Accept: */*\n\n",
                    proxy.requests().get(0));
        }
    }

    @Test
    void aBrokenResponseIsAnErrorAndTheNextRequestHasAnotherConnection() throws IOException {
        try (ScriptedProxy proxy = new ScriptedProxy(url -> url.endsWith("/cut")
                ? "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfive"
                : stored("millrace; hit; ttl=1"))) {
            WarmTally tally = new WarmTally();
            WarmRun.Options impatient = new WarmRun.Options(1000, 1, List.of(), Duration.ofMillis(300));
            WarmRun run = new WarmRun(
                    feed("http://a.example/cut", "http://a.example/"),
                    List.of(proxy.endpoint()),
                    impatient,
                    tally,
                    null,
                    line -> {});
            assertEquals(WarmRun.End.COMPLETE, run.run());
            assertEquals(1, tally.of(Effect.FRESH));
            assertEquals(
                    "[Reason[effect=error, text=timeout, count=1]]",
                    tally.reasons().toString());
            assertEquals(1, tally.failures());
        }
    }

    @Test
    void leavesOutRepeatedAndInvalidUrls() throws IOException {
        try (ScriptedProxy proxy = new ScriptedProxy(url -> stored("millrace; hit; ttl=1"))) {
            Feed feed =
                    feed("# comment", "", "http://a.example/1", "http://a.example/1", "ftp://a.example/", "http://");
            WarmTally tally = warm(proxy, feed);
            assertEquals(1, tally.total());
            assertEquals(1, feed.repeated());
            assertEquals(List.of("ftp://a.example/", "http://"), feed.invalidNamed());
        }
    }

    @Test
    void anInterruptedRunContinuesWhereItStopped() throws IOException {
        StringBuilder urls = new StringBuilder();
        for (int i = 0; i < 50; i++) {
            urls.append("http://a.example/").append(i).append('\n');
        }
        Path file = directory.resolve("progress");
        AtomicReference<WarmRun> running = new AtomicReference<>();
        AtomicInteger count = new AtomicInteger();
        try (ScriptedProxy proxy = new ScriptedProxy(url -> {
            if (count.incrementAndGet() == 10) {
                running.get().stop();
            }
            return stored("millrace; fwd=uri-miss; fwd-status=200; stored");
        })) {
            WarmTally first = new WarmTally();
            WarmRun run = new WarmRun(
                    feed(urls.toString()),
                    List.of(proxy.endpoint()),
                    options(3),
                    first,
                    ResumeFile.open(file, INPUT, first),
                    line -> {});
            running.set(run);
            assertEquals(WarmRun.End.STOPPED, run.run());
            int asked = proxy.requests().size();
            assertTrue(asked >= 10 && asked < 50, "asked " + asked);

            WarmTally second = new WarmTally();
            ResumeFile resume = ResumeFile.open(file, INPUT, second);
            assertTrue(resume.position() > 0 && resume.position() <= asked, "position " + resume.position());
            WarmRun again = new WarmRun(
                    feed(urls.toString()), List.of(proxy.endpoint()), options(3), second, resume, line -> {});
            assertEquals(WarmRun.End.COMPLETE, again.run());
            Set<String> all = new HashSet<>(proxy.requests());
            assertEquals(50, all.size());
            assertTrue(
                    proxy.requests().size() <= 50 + 6,
                    "asked " + proxy.requests().size());
            assertFalse(Files.exists(file));
        }
    }

    @Test
    void aChangedInputIsNotContinued() throws IOException {
        Path file = directory.resolve("progress");
        AtomicReference<WarmRun> running = new AtomicReference<>();
        try (ScriptedProxy proxy = new ScriptedProxy(url -> {
            running.get().stop();
            return stored("millrace; hit; ttl=1");
        })) {
            WarmTally tally = new WarmTally();
            WarmRun run = new WarmRun(
                    feed("http://a.example/1", "http://a.example/2"),
                    List.of(proxy.endpoint()),
                    options(1),
                    tally,
                    ResumeFile.open(file, INPUT, tally),
                    line -> {});
            running.set(run);
            run.run();
            ResumeFile resume = ResumeFile.open(file, INPUT, new WarmTally());
            WarmRun again = new WarmRun(
                    feed("http://a.example/other", "http://a.example/2"),
                    List.of(proxy.endpoint()),
                    options(1),
                    tally,
                    resume,
                    line -> {});
            IOException changed = assertThrows(IOException.class, again::run);
            assertTrue(changed.getMessage().contains("the input has changed"), changed.getMessage());
            IOException other =
                    assertThrows(IOException.class, () -> ResumeFile.open(file, "--list /other", new WarmTally()));
            assertTrue(other.getMessage().contains("belongs to another run (--list /urls)"), other.getMessage());
        }
        Files.writeString(file, "no json");
        IOException broken = assertThrows(IOException.class, () -> ResumeFile.open(file, INPUT, new WarmTally()));
        assertTrue(broken.getMessage().contains("not a file of --resume"), broken.getMessage());
    }

    @Test
    void progressIsOnlyForItsOwnerAndPreparedFilesAreNotWritten() throws IOException {
        Path victim = Files.writeString(directory.resolve("victim"), "kept");
        Path file = directory.resolve("progress");
        Path prepared = Files.createSymbolicLink(directory.resolve("progress.new"), victim);
        WarmTally tally = new WarmTally();
        ResumeFile resume = ResumeFile.open(file, INPUT, tally);
        resume.save(1, SequenceHash.NONE, tally);
        resume.save(2, SequenceHash.NONE, tally);
        assertEquals(2, ResumeFile.open(file, INPUT, tally).position());
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertEquals("kept", Files.readString(victim));
        assertTrue(Files.isSymbolicLink(prepared));
        try (Stream<Path> files = Files.list(directory)) {
            assertEquals(3, files.count());
        }
    }

    @Test
    void endsWhenTheProxyCannotBeReached() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Endpoint gone = new Endpoint(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), false);
        WarmTally tally = new WarmTally();
        WarmRun run = new WarmRun(
                feed("http://a.example/1", "http://a.example/2"), List.of(gone), options(2), tally, null, line -> {});
        assertEquals(WarmRun.End.UNREACHABLE, run.run());
        assertTrue(String.valueOf(run.unreachable()).contains("http://127.0.0.1:" + port), run.unreachable());
        assertEquals(0, tally.total());
    }

    @Test
    void theReasonsAreBounded() {
        WarmTally tally = new WarmTally();
        for (int i = 0; i < 100; i++) {
            tally.add(new WarmResult(Effect.NOT_SERVED, "host" + i), 0);
        }
        assertEquals(21, tally.reasons().size());
        assertEquals("others", tally.reasons().get(0).text());
        assertEquals(80, tally.reasons().get(0).count());
    }
}
