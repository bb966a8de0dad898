package io.millrace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that {@code .ci/subjects} refuses new commits with subjects that are too long or contain wip. */
class CommitSubjectsTest {
    private static final Path SCRIPT =
            Path.of("../.ci/subjects").toAbsolutePath().normalize();

    @TempDir
    Path repository;

    private record Run(int exitCode, String out) {}

    @BeforeEach
    void makeRepository() throws Exception {
        assumeTrue(isGitInstalled(), "needs git");
        git("init", "-q");
        commit("x".repeat(90) + " from before the rule");
    }

    @Test
    void newSubjectsAreHeldToTheRules() throws Exception {
        String base = git("rev-parse", "HEAD").out().strip();
        commit("store: " + "y".repeat(65));
        commit("docs: wipe the slate");
        assertEquals(new Run(0, ""), subjects(base));

        commit("store: " + "y".repeat(66));
        Run tooLong = subjects(base);
        assertEquals(1, tooLong.exitCode(), tooLong::out);
        assertTrue(tooLong.out().contains("subject has 73 characters, the limit is 72"), tooLong::out);

        git("reset", "-q", "--hard", "HEAD~1");
        commit("WIP: store");
        Run wip = subjects(base);
        assertEquals(1, wip.exitCode(), wip::out);
        assertTrue(wip.out().contains("subject says wip"), wip::out);
    }

    @Test
    void historyWithoutTheBaseIsNotChecked() throws Exception {
        Run run = subjects("0123456789012345678901234567890123456789");
        assertEquals(0, run.exitCode(), run::out);
        assertTrue(run.out().contains("subjects are not checked"), run::out);
    }

    private static boolean isGitInstalled() {
        return Stream.of(System.getenv("PATH").split(":"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, "git")));
    }

    private void commit(String subject) throws Exception {
        git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", subject);
    }

    private Run git(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("git"));
        command.addAll(List.of(arguments));
        Run run = run(command);
        assertEquals(0, run.exitCode(), run::out);
        return run;
    }

    private Run subjects(String base) throws Exception {
        return run(List.of(SCRIPT.toString(), base));
    }

    private Run run(List<String> command) throws IOException, InterruptedException {
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(repository.toFile()).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("GIT_"));
        Process process = builder.start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Run(process.waitFor(), out);
    }
}
