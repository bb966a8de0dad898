package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the packages that {@code mvn -Ppackages,nightly verify} built: contents, lintian, and use in a fresh Debian.
 */
@Tag("nightly")
class PackagesTest {
    private static final Path TARGET =
            Path.of(System.getProperty("millrace.source", "..")).resolve("dist/target");
    private static final Duration LIMIT = Duration.ofMinutes(10);

    /**
     * Returns the newest matching artifact; without one the test is skipped, because the profile packages was not
     * active.
     */
    private static Path artifact(String pattern) throws IOException {
        assumeTrue(Files.isDirectory(TARGET), "no " + TARGET);
        try (Stream<Path> files = Files.list(TARGET)) {
            List<Path> found = files.filter(
                            file -> file.getFileName().toString().matches(pattern))
                    .toList();
            assumeTrue(!found.isEmpty(), "no artifact " + pattern + "; run with -Ppackages");
            assertEquals(1, found.size(), found::toString);
            return found.get(0);
        }
    }

    private static Command run(String... line) {
        return Command.run(Path.of("/"), LIMIT, List.of(line));
    }

    private static void assumeInstalled(String command) {
        assumeTrue(Command.isInstalled(command), command + " is not installed");
    }

    @ParameterizedTest
    @CsvSource({"millrace_.*\\.deb, true", "millrace-jre_.*\\.deb, false"})
    void debianPackageHasItsFiles(String pattern, boolean runtime) throws IOException {
        Path deb = artifact(pattern);
        assumeInstalled("dpkg-deb");
        Set<String> files = run("dpkg-deb", "--contents", deb.toString())
                .succeeds()
                .out()
                .lines()
                .map(line -> line.replaceAll("^(\\S+) \\S+ .* \\./(\\S*)( -> .*)?$", "$1 /$2"))
                .collect(Collectors.toCollection(TreeSet::new));
        for (String file : List.of(
                "-rw-r--r-- /etc/millrace/millrace.yaml",
                "-rwxr-xr-x /etc/init.d/millrace",
                "-rwxr-xr-x /usr/share/millrace/bin/millrace",
                "-rw-r--r-- /usr/share/millrace/lib/extensions/millrace-wasm.jar",
                "-rw-r--r-- /usr/lib/systemd/system/millrace.service",
                "-rw-r--r-- /usr/lib/systemd/system/millrace.socket",
                "-rw-r--r-- /usr/share/man/man1/millrace.1.gz",
                "-rw-r--r-- /usr/share/bash-completion/completions/millctl",
                "lrwxrwxrwx /usr/bin/millrace")) {
            assertTrue(files.contains(file), () -> file + " is missing: " + files);
        }
        assertEquals(runtime, files.contains("-rwxr-xr-x /usr/lib/millrace/runtime/bin/java"));
        String conffiles = run("dpkg-deb", "--info", deb.toString(), "conffiles")
                .succeeds()
                .out();
        assertEquals(
                "/etc/init.d/millrace\n/etc/millrace/jvm.options.d/README\n/etc/millrace/millrace.yaml\n", conffiles);
    }

    @ParameterizedTest
    @CsvSource({"millrace_.*\\.deb", "millrace-jre_.*\\.deb"})
    void lintianFindsNoError(String pattern) throws IOException {
        Path deb = artifact(pattern);
        assumeInstalled("lintian");
        String errors = run("lintian", "--allow-root", "--fail-on", "error", deb.toString())
                .out()
                .lines()
                .filter(line -> line.startsWith("E:"))
                .collect(Collectors.joining("\n"));
        assertEquals("", errors);
    }

    @ParameterizedTest
    @CsvSource({
        "millrace-\\d.*\\.x86_64\\.rpm, /usr/lib/millrace/runtime/bin/java",
        "millrace-jre-.*\\.rpm, /usr/share/millrace/bin/millctl"
    })
    void rpmIsIntactAndExecutable(String pattern, String program) throws IOException {
        Path rpm = artifact(pattern);
        assumeInstalled("rpm");
        run("rpm", "-K", "--nosignature", rpm.toString()).succeeds();
        String files = run("rpm", "-qp", "--nosignature", "--qf", "[%{FILEMODES:perms} %{FILENAMES}\n]", rpm.toString())
                .succeeds()
                .out();
        assertTrue(files.contains("-rwxr-xr-x " + program + "\n"), files);
        // A link to a directory stays a link.
        assertTrue(files.contains(" /usr/share/millrace/conf/jvm.options.d\n"), files);
        assertTrue(!files.contains("/usr/share/millrace/conf/jvm.options.d/"), files);
        assertTrue(!files.contains("/usr/share/millrace/runtime/"), files);
        assertTrue(!files.contains(" /usr\n") && !files.contains(" /etc\n"), "owns directories of the system");
        String configuration =
                run("rpm", "-qpc", "--nosignature", rpm.toString()).succeeds().out();
        assertTrue(configuration.contains("/etc/millrace/millrace.yaml"), configuration);
    }

    @ParameterizedTest
    @CsvSource({
        "bookworm, millrace_.*\\.deb",
        "trixie, millrace_.*\\.deb",
        "bookworm, millrace-jre_.*\\.deb",
        "trixie, millrace-jre_.*\\.deb"
    })
    void packageLivesInAFreshDebian(String suite, String pattern) throws IOException {
        Path deb = artifact(pattern);
        assumeInstalled("mmdebstrap");
        assumeTrue("root".equals(System.getProperty("user.name")), "needs root, to make a chroot");
        Path script = Path.of(System.getProperty("millrace.source", ".."))
                .resolve(".ci/packages")
                .toAbsolutePath();
        run(script.toString(), suite, deb.toAbsolutePath().toString()).succeeds();
    }

    @Test
    void imageIsAtMost120Megabytes() throws IOException {
        Path image = artifact("millrace-.*-image-.*\\.tar");
        assertTrue(
                Files.size(image) <= 120_000_000,
                () -> image + " bytes actual=" + image.toFile().length());
    }

    @Test
    void checksumsHold() throws IOException {
        Path checksums = artifact("SHA256SUMS");
        Command.run(checksums.toAbsolutePath().getParent(), LIMIT, List.of("sha256sum", "--strict", "-c", "SHA256SUMS"))
                .succeeds();
    }
}
