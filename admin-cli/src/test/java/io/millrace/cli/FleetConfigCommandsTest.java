package io.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.cli.client.JsonObject;
import io.millrace.cli.client.ScriptedAdmin;
import io.millrace.cli.command.CommandClock;
import io.millrace.cli.command.ProcessEnvironment;
import io.millrace.cli.sign.RevisionSigner;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyFactory;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests what the commands sign and send. Statements have the time, so they are no golden files. */
final class FleetConfigCommandsTest {
    private static final String STATE =
            "{\"fleet\":\"cdn\",\"node\":\"n1\",\"state\":\"on\",\"problem\":\"\",\"revision\":3,\"newest\":3,\"next\":4,"
                    + "\"stage\":\"all\",\"content\":\"c3\",\"canary\":[],\"guards\":[],\"canary_seconds\":0,\"failed\":0,"
                    + "\"reason\":\"\",\"nodes\":[]}";
    private static final String PUSHED = "{\"ok\":true,\"revision\":4,\"stage\":\"all\",\"problems\":[]}";

    @TempDir
    Path directory;

    private long clock;
    /** Time by which the clock advances in each pause. */
    private long pauseNanos;

    private Run run(String... arguments) {
        CommandClock none = new CommandClock() {
            @Override
            public boolean sleep(Duration time) {
                clock += pauseNanos;
                return true;
            }

            @Override
            public long nanoTime() {
                return clock;
            }
        };
        return Run.of(new ProcessEnvironment(Map.of(), Path.of("/"), Path.of("/"), null, false), none, arguments);
    }

    private String key() {
        Path key = directory.resolve("fleet.key");
        if (!Files.exists(key)) {
            assertEquals(0, run("fleet", "config", "keygen", key.toString()).exitCode());
        }
        return key.toString();
    }

    private int sockets;
    private List<String> requests = new ArrayList<>();

    private Run withAdmin(List<String> answers, String... arguments) throws Exception {
        sockets++;
        Path socket = directory.resolve("admin" + sockets + ".sock");
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--key", key(), "--admin", socket.toString()));
        List<String> responses = answers.stream()
                .map(answer -> ScriptedAdmin.response(200, answer))
                .toList();
        try (ScriptedAdmin admin = ScriptedAdmin.inTurn(socket, responses)) {
            Run run = run(all.toArray(new String[0]));
            requests = admin.requests();
            return run;
        }
    }

    private JsonObject body(int request) {
        String text = requests.get(request);
        return JsonObject.parse(text.substring(text.indexOf('{')).getBytes(StandardCharsets.UTF_8));
    }

    private void assertSigned(String text, String signature) throws Exception {
        String pem = Files.readString(directory.resolve("fleet.key.pub"));
        byte[] der = Base64.getMimeDecoder().decode(pem.replaceAll("-----[A-Z ]+-----", ""));
        Signature verifier = Signature.getInstance("Ed25519");
        verifier.initVerify(KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(der)));
        verifier.update(text.getBytes(StandardCharsets.UTF_8));
        assertTrue(verifier.verify(Base64.getDecoder().decode(signature)), text);
    }

    @Test
    void aKeyPairIsWrittenOnce() throws Exception {
        Path key = directory.resolve("other.key");
        Run run = run("fleet", "config", "keygen", key.toString(), "-o", "json");
        assertEquals(
                key + ".pub",
                JsonObject.parse(run.out().getBytes(StandardCharsets.UTF_8)).text("public"));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(key)));
        assertEquals(2, run("fleet", "config", "keygen", key.toString()).exitCode());
        RevisionSigner.read(key);
    }

    @Test
    void aCanaryIsSignedTogetherWithItsFallback() throws Exception {
        Path file = Files.writeString(directory.resolve("site.yaml"), "remap: []\n");
        Run run = withAdmin(
                List.of(STATE, "{\"received\":30}", PUSHED.replace("\"all\"", "\"canary\"")),
                "fleet",
                "config",
                "push",
                file.toString(),
                "--canary",
                "n1,n2",
                "--for",
                "2m",
                "--guard",
                "hit_ratio > 80",
                "--guard",
                "errors<1",
                "-o",
                "json");
        assertEquals(0, run.exitCode(), run::toString);
        assertTrue(run.out().startsWith("{"), run::toString);
        String hash = RevisionSigner.hash(Files.readAllBytes(file));
        assertEquals(hash, body(1).text("content"));
        JsonObject push = body(2);
        String statement = push.text("statement", "");
        assertTrue(
                statement.startsWith("millrace fleet config 1\nfleet cdn\nrevision 4\ncontent " + hash
                        + "\nrestores 0\ncanary n1,n2\nseconds 120\nguard hit_ratio>80,errors<1\nat 2"),
                statement);
        assertSigned(statement, push.text("signature", ""));
        String fallback = push.text("fallback", "");
        assertTrue(
                fallback.startsWith("millrace fleet config 1\nfleet cdn\nrevision 5\ncontent c3\nrestores 3\n"
                        + "canary none\nseconds 0\nguard none\n"),
                fallback);
        assertSigned(fallback, push.text("fallback_signature", ""));
    }

    @Test
    void aRefusalNamesTheFile() throws Exception {
        Path file = Files.writeString(directory.resolve("site.yaml"), "admin: {}\n");
        String refused = "{\"ok\":false,\"revision\":4,\"stage\":\"\",\"problems\":"
                + "[\"fleet://config/4:1:1: admin: cannot be pushed\"]}";
        Run run = withAdmin(List.of(STATE, "{\"received\":30}", refused), "fleet", "config", "push", file.toString());
        assertEquals(2, run.exitCode(), run::toString);
        assertEquals(file + ":1:1: admin: cannot be pushed\n", run.out());
    }

    @Test
    void aRollbackTakesTheNewestOtherContentThatDidNotFail() throws Exception {
        String history = """
                {"revisions":[
                {"revision":1,"content":"c1","failure":""},
                {"revision":2,"content":"c2","failure":"n1: errors is 9"},
                {"revision":3,"content":"c3","failure":"","current":true}]}
                """;
        Run run = withAdmin(List.of(STATE, history, PUSHED), "fleet", "config", "rollback", "-o", "json");
        assertEquals(0, run.exitCode(), run::toString);
        assertTrue(body(2).text("statement", "").contains("\nrevision 4\ncontent c1\nrestores 1\n"));
        Run named = withAdmin(List.of(STATE, history, PUSHED), "fleet", "config", "rollback", "2");
        assertEquals(0, named.exitCode(), named::toString);
        assertTrue(body(2).text("statement", "").contains("\nrestores 2\n"));
        Run absent = withAdmin(List.of(STATE, history), "fleet", "config", "rollback", "7");
        assertEquals(2, absent.exitCode(), absent::toString);
    }

    /** The history is not asked: its latest other content is not always the one before the canary. */
    @ParameterizedTest
    @CsvSource({"2, c3, the content of revision 2", "0, none, its local file alone"})
    void aRollbackOfACanaryRestoresTheContentBeforeIt(long previous, String content, String text) throws Exception {
        String canary = STATE.replace("\"stage\":\"all\"", "\"stage\":\"canary\"")
                .replace(
                        "\"canary\":[]",
                        "\"previous\":" + previous + ",\"previous_content\":\"" + content + "\",\"canary\":[\"n1\"]");
        Run run = withAdmin(List.of(canary, PUSHED), "fleet", "config", "rollback");
        assertEquals(0, run.exitCode(), run::toString);
        assertTrue(run.err().contains("ends the canary of revision 3; every node goes back to " + text), run::toString);
        String statement = body(1).text("statement", "");
        assertTrue(statement.contains("\nrevision 4\ncontent " + content + "\nrestores " + previous + "\n"), statement);
    }

    /** A launcher of an earlier version answers without {@code previous_content}. */
    @Test
    void aRollbackOfACanaryOnAnEarlierLauncherTakesTheHistory() throws Exception {
        String canary = STATE.replace("\"stage\":\"all\"", "\"stage\":\"canary\"");
        String history = "{\"revisions\":[{\"revision\":2,\"content\":\"c2\",\"failure\":\"\"},"
                + "{\"revision\":3,\"content\":\"c3\",\"failure\":\"\",\"current\":true}]}";
        Run run = withAdmin(List.of(canary, history, PUSHED), "fleet", "config", "rollback");
        assertEquals(0, run.exitCode(), run::toString);
        assertTrue(body(2).text("statement", "").contains("\nrevision 4\ncontent c2\nrestores 2\n"));
    }

    @Test
    void aRollbackWithoutAnEarlierContentChangesNothing() throws Exception {
        String history = "{\"revisions\":[{\"revision\":3,\"content\":\"c3\",\"failure\":\"\",\"current\":true}]}";
        Run run = withAdmin(List.of(STATE, history), "fleet", "config", "rollback");
        assertEquals(2, run.exitCode(), run::toString);
        assertTrue(
                run.err().contains("no earlier revision with another content, so no node has changed"), run::toString);
    }

    @Test
    void waitingEndsWhenEveryLiveNodeHasDecided() throws Exception {
        Path file = Files.writeString(directory.resolve("site.yaml"), "remap: []\n");
        String after = STATE.replace("\"newest\":3", "\"newest\":4")
                .replace(
                        "\"nodes\":[]",
                        "\"nodes\":[{\"node\":\"n1\",\"connection\":\"live\",\"state\":\"applied\",\"revision\":4},"
                                + "{\"node\":\"n2\",\"connection\":\"live\",\"state\":\"rejected\",\"revision\":3,\"newest\":4},"
                                + "{\"node\":\"n3\",\"connection\":\"away\",\"state\":\"applied\",\"revision\":3}]");
        // A node that has not read the revision yet is not ready, but one that does not take part is.
        String before = after.replace("applied", "local").replace("\"revision\":4}", "\"revision\":0}");
        String done = after.replace(
                "{\"node\":\"n3\"",
                "{\"node\":\"n4\",\"connection\":\"live\",\"state\":\"off\",\"revision\":0},{\"node\":\"n3\"");
        Run run = withAdmin(
                List.of(STATE, "{\"received\":30}", PUSHED, before, done),
                "fleet",
                "config",
                "push",
                file.toString(),
                "--wait");
        assertEquals(1, run.exitCode(), run::toString);
    }

    @Test
    void waitingNamesTheNodesThatDidNotConfirmWithoutAConnection() throws Exception {
        Path file = Files.writeString(directory.resolve("site.yaml"), "remap: []\n");
        String down = STATE.replace(
                        "\"state\":\"on\",\"problem\":\"\"", "\"state\":\"disconnected\",\"problem\":\"no server\"")
                .replace("\"newest\":3", "\"newest\":4");
        String nodes = down.replace(
                "\"nodes\":[]",
                "\"nodes\":[{\"node\":\"n1\",\"connection\":\"away\",\"state\":\"applied\",\"revision\":4},"
                        + "{\"node\":\"n2\",\"connection\":\"away\",\"state\":\"applied\",\"revision\":3}]");
        for (String last : List.of(nodes, down)) {
            clock = 0;
            pauseNanos = Duration.ofSeconds(40).toNanos();
            Run run = withAdmin(
                    List.of(STATE, "{\"received\":30}", PUSHED, last, last),
                    "fleet",
                    "config",
                    "push",
                    file.toString(),
                    "--wait");
            assertEquals(75, run.exitCode(), run::toString);
            String names = last.equals(nodes) ? "n2" : "unknown nodes";
            assertTrue(
                    run.err()
                            .contains("revision 4 is not confirmed after 30 s by " + names
                                    + ": this node has no connection to the fleet: no server"),
                    run::toString);
        }
        Run run = withAdmin(List.of(down), "fleet", "config", "push", file.toString());
        assertEquals(1, run.exitCode(), run::toString);
        assertTrue(run.err().contains("cannot be reached, so no node has changed: no server"), run::toString);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "on | canary | after 150 s: it waits for the verdicts of n1, n2",
                "disconnected | all | after 150 s by n1: this node has no connection to the fleet: no answer",
                "unavailable | canary | after 150 s by n1: the configuration of the fleet cannot be reached: no answer",
                "off | none | after 150 s by n1: this node does not share a configuration: no answer",
            })
    void waitingNamesTheReasonWhyACanaryIsNotConfirmed(String state, String stage, String text) throws Exception {
        Path file = Files.writeString(directory.resolve("site.yaml"), "remap: []\n");
        String last = oneNode(state.equals("on") ? "applied" : "pending", 4, 4)
                .replace("\"state\":\"on\",\"problem\":\"\"", "\"state\":\"" + state + "\",\"problem\":\"no answer\"")
                .replace("\"stage\":\"all\"", "\"stage\":\"" + stage + "\"")
                .replace("\"canary\":[]", "\"canary\":[\"n1\",\"n2\"]");
        pauseNanos = Duration.ofSeconds(200).toNanos();
        List<String> answers = List.of(STATE, "{\"received\":30}", PUSHED, last, last);
        List<String> command =
                List.of("fleet", "config", "push", file.toString(), "--canary", "n1,n2", "--for", "45s", "--wait");
        Run run = withAdmin(answers, command.toArray(new String[0]));
        assertEquals(75, run.exitCode(), run::toString);
        assertTrue(run.err().contains("revision 4 is not confirmed " + text + "\n"), run::toString);
    }

    private static String oneNode(String stand, long revision, long newest) {
        return STATE.replace("\"newest\":3", "\"newest\":4")
                .replace(
                        "\"nodes\":[]",
                        "\"nodes\":[{\"node\":\"n1\",\"connection\":\"live\",\"state\":\"" + stand + "\",\"revision\":"
                                + revision + ",\"newest\":" + newest + "}]");
    }

    /** A revision with unchanged content is in force at once, while the node still records it. */
    @Test
    void waitingContinuesWhileANodeAppliesOrHasOnlyRejectedAnEarlierRevision() throws Exception {
        Path file = Files.writeString(directory.resolve("site.yaml"), "remap: []\n");
        List<String> answers = List.of(
                STATE,
                "{\"received\":30}",
                PUSHED,
                oneNode("rejected", 2, 3),
                oneNode("pending", 4, 4),
                oneNode("applied", 4, 4));
        Run run = withAdmin(answers, "fleet", "config", "push", file.toString(), "--wait");
        assertEquals(0, run.exitCode(), run::toString);
        assertEquals(answers.size(), requests.size(), run::toString);
        assertTrue(run.out().contains("4  applied"), run::toString);
    }
}
