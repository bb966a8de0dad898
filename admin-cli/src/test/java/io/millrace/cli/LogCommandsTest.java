package io.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.cli.command.ProcessEnvironment;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

final class LogCommandsTest {
    private static final String HIT =
            "1700000000.123 4 192.0.2.7 TCP_MEM_HIT/200 1720 GET http://www.example.com/a - NONE/- text/html\n";
    private static final String MISS =
            "1700000001.000 40 192.0.2.8 TCP_MISS/404 100 GET http://www.example.com/b - DIRECT/10.0.0.1:80 -\n";

    @TempDir
    private Path directory;

    private Run millctl(String input, String... arguments) {
        return Run.of(
                new ProcessEnvironment(
                        Map.of(),
                        directory,
                        directory.resolve("run"),
                        null,
                        false,
                        new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8))),
                arguments);
    }

    private String file(String text) throws IOException {
        Path file = directory.resolve("a.log");
        Files.writeString(file, text);
        return file.toString();
    }

    @Test
    void catPrintsTheLinesThatAreWanted() throws IOException {
        Run run = millctl("", "log", "cat", file(HIT + "odd\n" + MISS), "-F", "status=4xx");
        assertEquals(MISS, run.out());
        assertEquals(0, run.exitCode(), run.err());
        assertEquals(HIT + "odd\n", millctl(HIT + "odd\n", "log", "cat", "-").out());
    }

    @Test
    void catPrintsOneKindOfObjectInAnyFormat() {
        assertEquals(
                "{\"time\":\"2023-11-14T22:13:20.123Z\",\"duration_ms\":4,\"client\":\"192.0.2.7\",\"result\":\"TCP_MEM_HIT\","
                        + "\"status\":200,\"bytes\":1720,\"method\":\"GET\",\"url\":\"http://www.example.com/a\",\"type\":\"text/html\"}\n",
                millctl(HIT, "log", "cat", "-o", "json", "-").out());
    }

    @Test
    void aCompressedLogIsReadToo() throws IOException {
        Path file = directory.resolve("a.log.gz");
        try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
            out.write(HIT.getBytes(StandardCharsets.UTF_8));
        }
        assertEquals(HIT, millctl("", "log", "cat", file.toString()).out());
    }

    @Test
    void controlCharactersOfALineDoNotReachTheTerminal() {
        assertEquals(
                "a\\u001b[2Jb\n", millctl("a\u001b[2Jb\n", "log", "cat", "-").out());
    }

    @Test
    void controlCharactersOfALineDoNotReachTheTerminalAsJsonEither() {
        String line = HIT.replace("/a ", "/a\u009b2J\u007f\u00e9 ");
        assertTrue(
                millctl(line, "log", "cat", "-o", "json", "-")
                        .out()
                        .contains("\"url\":\"http://www.example.com/a\\u009b2J\\u007f\u00e9\""),
                millctl(line, "log", "cat", "-o", "json", "-").out());
        assertTrue(millctl(line, "log", "stats", "--urls", "1", "-o", "json", "-")
                .out()
                .contains("/a\\u009b2J\\u007f\u00e9\""));
    }

    @Test
    void statsCountsHitsMissesAndMore() throws IOException {
        Run run = millctl("", "log", "stats", file(HIT + HIT + MISS + "odd\n"), "--urls", "1");
        assertEquals("""
                3 requests, 2023-11-14T22:13:20.123Z to 2023-11-14T22:13:21Z, 1 line not understood

                www.example.com
                                                  requests   share   mean ms       bytes
                  all                                    3  100.0%      16.0     3.5 KiB
                  hit                                    2   66.7%       4.0     3.4 KiB
                    TCP_MEM_HIT                          2   66.7%       4.0     3.4 KiB
                  miss                                   1   33.3%      40.0       100 B
                    TCP_MISS                             1   33.3%      40.0       100 B
                  status
                    200                                  2   66.7%       4.0     3.4 KiB
                    404                                  1   33.3%      40.0       100 B
                  method
                    GET                                  3  100.0%      16.0     3.5 KiB
                  type
                    text/html                            2   66.7%       4.0     3.4 KiB

                Most requested URLs
                      requests    hits       bytes  URL
                             2  100.0%     3.4 KiB  http://www.example.com/a
                """, run.out());
        assertEquals(0, run.exitCode(), run.err());
    }

    @Test
    void statsInJsonHasStableNames() throws IOException {
        Run run = millctl("", "log", "stats", file(MISS), "-o", "json", "--urls", "1");
        String tally = "\"requests\":1,\"bytes\":100,\"mean_ms\":40.0";
        String none = "\"requests\":0,\"bytes\":0,\"results\":{}";
        String site = tally + ",\"hit\":{" + none + "},\"miss\":{" + tally + ",\"results\":{\"TCP_MISS\":{" + tally
                + "}}},\"error\":{" + none + "},\"other\":{" + none + "},\"statuses\":{\"404\":{" + tally
                + "}},\"methods\":{\"GET\":{" + tally + "}},\"types\":{}";
        assertEquals(
                "{\"from\":\"2023-11-14T22:13:21Z\",\"to\":\"2023-11-14T22:13:21Z\",\"not_understood\":0,\"sampled_lines\":0,"
                        + "\"hosts_seen\":1,"
                        + "\"requests_of_other_hosts\":0,\"total\":{" + site
                        + "},\"hosts\":[{\"host\":\"www.example.com\","
                        + site
                        + "}],\"urls\":[{\"url\":\"http://www.example.com/b\",\"requests\":1,\"error\":0,\"hits\":0,"
                        + "\"bytes\":100}]}\n",
                run.out());
    }

    @Test
    void statsWithAStateCountsNewLines() throws IOException {
        String state = directory.resolve("state").toString();
        String log = file(HIT + MISS);
        assertTrue(millctl("", "log", "stats", "--state", state, log).out().startsWith("2 requests, "));
        append(Path.of(log), HIT);
        Files.move(Path.of(log), directory.resolve("a.log.1"));
        Files.writeString(Path.of(log), MISS + "odd\n");
        Run run = millctl("", "log", "stats", "--state", state, log);
        assertTrue(
                run.out().startsWith("2 requests, 2023-11-14T22:13:20.123Z to 2023-11-14T22:13:21Z, 1 line not"),
                run.out());
        assertEquals("", run.err());
        assertTrue(millctl("", "log", "stats", "--state", state, log).out().startsWith("0 requests\n"));
        Files.delete(directory.resolve("a.log.1"));
        Files.writeString(Path.of(log), HIT);
        Run lost = millctl("", "log", "stats", "--state", state, log);
        assertTrue(lost.out().startsWith("1 request, "), lost.out());
        assertTrue(lost.err().startsWith("millctl: the log file of the last run, read up to byte "), lost.err());
        Run stdin = millctl("", "log", "stats", "--state", state, "-");
        assertEquals(2, stdin.exitCode());
        assertEquals("millctl: --state needs a file, and cannot be used with standard input\n", stdin.err());
    }

    @Test
    void linesWhoseOutputFailedAreCountedAgain() throws IOException {
        String state = directory.resolve("state").toString();
        String log = file(HIT);
        OutputStream full = new OutputStream() {
            @Override
            public void write(int octet) throws IOException {
                throw new IOException("No space left on device");
            }
        };
        try (PrintStream lost = new PrintStream(full)) {
            ProcessEnvironment environment = new ProcessEnvironment(Map.of(), directory, directory, null, false);
            assertEquals(1, Millctl.run(new String[] {"log", "stats", "--state", state, log}, environment, lost, lost));
        }
        assertTrue(millctl("", "log", "stats", "--state", state, log).out().startsWith("1 request, "));
    }

    @Test
    void tailFollowsNewLines() throws IOException {
        String file = file(HIT + MISS);
        int[] pauses = new int[1];
        Run run = Run.of(
                new ProcessEnvironment(Map.of(), directory, directory.resolve("run"), null, false),
                time -> {
                    append(Path.of(file), pauses[0] == 0 ? MISS : HIT);
                    return pauses[0]++ < 2;
                },
                "log",
                "tail",
                "-n",
                "1",
                "-f",
                "-F",
                "cache=miss",
                file);
        assertEquals(MISS + MISS, run.out());
        assertEquals(0, run.exitCode(), run.err());
        Files.writeString(Path.of(file), HIT + MISS + HIT);
        assertEquals(
                MISS + HIT,
                millctl("", "log", "tail", "--no-follow", "-n", "2", file).out());
    }

    private static void append(Path file, String text) {
        try {
            Files.writeString(file, text, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void theLogOfTheInstanceThatIsNamedIsFound() throws IOException {
        Path log = Files.createDirectories(directory.resolve("state/log")).resolve("access.log");
        Files.writeString(log, HIT);
        assertEquals(
                HIT,
                millctl("", "log", "cat", "--admin", directory.resolve("state") + "/admin.sock")
                        .out());
    }

    @Test
    void unreadableFilesAreNamed() throws Exception {
        String good = file(HIT);
        Path damaged = Files.writeString(directory.resolve("damaged.gz"), HIT);
        Path cut = directory.resolve("cut.gz");
        try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(cut))) {
            out.write(HIT.getBytes(StandardCharsets.UTF_8));
        }
        byte[] packed = Files.readAllBytes(cut);
        Files.write(cut, Arrays.copyOf(packed, packed.length / 2));
        assertFailure(damaged + ": Not in GZIP format", "log", "cat", good, damaged.toString());
        assertFailure(cut + ": Unexpected end of ZLIB input stream", "log", "stats", cut.toString());
        assertFailure(directory + ": Is a directory", "log", "cat", directory.toString());
        assertFailure(directory + ": is not a file; log cat also reads pipes", "log", "tail", directory.toString());
    }

    @Test
    void unusableProgressFilesAreNamed() throws Exception {
        String log = file(HIT);
        Path nowhere = directory.resolve("absent/state");
        assertFailure(nowhere + ": no such file", "log", "stats", "--state", nowhere.toString(), log);
        String state = directory.resolve("state").toString();
        Path beside = Files.createDirectory(directory.resolve("state.new"));
        assertFailure(beside + ": Is a directory", "log", "stats", "--state", state, log);
        Files.delete(beside);
        assertTrue(millctl("", "log", "stats", "--state", state, log).out().startsWith("1 request, "));
        Files.move(Path.of(log), directory.resolve("a.log.1"));
        Path damaged = Files.writeString(directory.resolve("a.log.2.gz"), HIT);
        Files.writeString(Path.of(log), MISS);
        assertFailure(damaged + ": Not in GZIP format", "log", "stats", "--state", state, log);
    }

    private void assertFailure(String said, String... arguments) {
        Run run = millctl("", arguments);
        assertEquals("millctl: " + said + "\n", run.err());
        assertEquals(1, run.exitCode());
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aPipeIsNotFollowed() throws Exception {
        Path pipe = directory.resolve("pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        assertFailure(pipe + ": is not a file; log cat also reads pipes", "log", "tail", pipe.toString());
    }

    @Test
    void aFileWhoseNameBeginsWithAnAtIsAFile() throws IOException {
        Path arguments = Files.writeString(directory.resolve("arguments"), "--help");
        assertFailure("@" + arguments + ": no such file", "log", "cat", "@" + arguments);
    }

    @Test
    void errorsAreReported() throws IOException {
        Run none = millctl("", "log", "cat");
        assertEquals(2, none.exitCode());
        assertTrue(none.err().startsWith("millctl: found no access log; name the file\n"), none.err());
        Run absent = millctl("", "log", "tail", directory.resolve("absent.log").toString());
        assertEquals(1, absent.exitCode());
        assertEquals("millctl: " + directory.resolve("absent.log") + ": no such file\n", absent.err());
        Run filter = millctl("", "log", "cat", "-", "-F", "status=x");
        assertEquals(2, filter.exitCode());
        assertEquals("millctl: not a status such as 404, 5xx or 400-499: x\n", filter.err());
        assertEquals(2, millctl("", "log", "cat", "-", "--since", "yesterday").exitCode());
        assertEquals(0, millctl(HIT, "log", "cat", "-", "--since", "10m").exitCode());
    }

    /** A product whose bin/millrace prints its arguments to standard error, and these lines to standard output. */
    private Run withProduct(String output, int exitCode, String input, String... arguments) throws IOException {
        Path script = directory.resolve("bin/millrace");
        Files.createDirectories(script.getParent());
        Files.writeString(directory.resolve("output"), output);
        Files.writeString(
                script,
                "#!/bin/sh\necho \"$*\" >&2\n[ \"$*\" = \"${*%-}\" ] || wc -c >&2\ncat '" + directory.resolve("output")
                        + "'\nexit " + exitCode + "\n");
        assertTrue(script.toFile().setExecutable(true));
        return Run.of(
                new ProcessEnvironment(
                        Map.of(),
                        directory,
                        directory.resolve("run"),
                        directory,
                        false,
                        new ByteArrayInputStream(input.getBytes(StandardCharsets.ISO_8859_1))),
                arguments);
    }

    private static final String BLOCK = "\u00f1M\0\n and the rest";

    private String binary(String prefix) throws IOException {
        Path file = directory.resolve("a.blog");
        Files.writeString(file, prefix + BLOCK, StandardCharsets.ISO_8859_1);
        return file.toString();
    }

    @Test
    void aBinaryLogIsDecodedByTheProduct() throws IOException {
        String file = binary("");
        Run run = withProduct(
                HIT + MISS, 0, "", "log", "cat", file, "--format", "%<chi>", "--where", "status > 1", "--fields");
        assertEquals(HIT + MISS, run.out());
        assertEquals("log cat --format=%<chi> --where=status > 1 --fields -- " + file + "\n", run.err());
        assertEquals(0, run.exitCode());
        assertEquals(
                MISS,
                withProduct(HIT + MISS, 0, "", "log", "cat", file, "-F", "status=4xx")
                        .out());
        Run json = withProduct(HIT, 0, "", "log", "cat", "-o", "json", file);
        assertEquals("log cat --format=json -- " + file + "\n", json.err());
        assertTrue(json.out().startsWith("{\"time\":\"2023-11-14T22:13:20.123Z\","), json::out);
    }

    @Test
    void damageInABinaryLogIsTheExitCode() throws IOException {
        assertEquals(1, withProduct(HIT, 1, "", "log", "cat", binary("")).exitCode());
        assertEquals(
                HIT,
                withProduct(HIT, 0, "", "log", "cat", binary("a damaged block")).out());
    }

    @Test
    void aBinaryLogOnStandardInputIsPassedOn() throws IOException {
        Run run = withProduct(HIT, 0, BLOCK, "log", "cat", "-");
        assertEquals("log cat -- -\n" + BLOCK.length() + "\n", run.err());
        assertEquals(HIT, run.out());
    }

    @Test
    void statisticsReadBinaryLogs() throws IOException {
        Run run = withProduct(HIT + MISS, 0, "", "log", "stats", binary(""));
        assertTrue(run.out().startsWith("2 requests"), run::out);
        Run state = withProduct(
                "", 0, "", "log", "stats", "--state", directory.resolve("s").toString(), binary(""));
        assertEquals(2, state.exitCode());
        assertTrue(state.err().contains("--state needs logs of text"), state::err);
    }

    @Test
    void optionsForTheOtherKindOfLogAreRefused() throws IOException {
        Run text = withProduct("", 0, "", "log", "cat", file(HIT), "--where", "status > 1");
        assertEquals(2, text.exitCode());
        assertTrue(text.err().contains("is not a binary log, but --format, --where"), text::err);
        Run template = withProduct("", 0, "", "log", "cat", binary(""), "--format", "%<chi>", "-F", "status=5xx");
        assertEquals(2, template.exitCode());
        assertTrue(template.err().contains("--where works with each format"), template::err);
        Run tail = withProduct("", 0, "", "log", "tail", binary(""));
        assertEquals(2, tail.exitCode());
        assertTrue(tail.err().contains("millctl log cat --follow"), tail::err);
    }
}
