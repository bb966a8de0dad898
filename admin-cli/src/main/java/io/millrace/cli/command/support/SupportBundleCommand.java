package io.millrace.cli.command.support;

import io.millrace.cli.bundle.AddressHash;
import io.millrace.cli.bundle.BundleContent;
import io.millrace.cli.bundle.Redaction;
import io.millrace.cli.client.AdminAddress;
import io.millrace.cli.client.Instances;
import io.millrace.cli.client.JsonTree;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.command.ProcessEnvironment;
import io.millrace.cli.command.Version;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code millctl support bundle}, which writes an archive for a bug report. It also works if the launcher
 * or the worker (the two processes of Millrace) does not run: a file that cannot be collected is listed with the
 * reason. Confined to one thread.
 */
@Command(
        name = "bundle",
        abbreviateSynopsis = true,
        description = {
            "Write one tar.gz for a bug report, without secrets.",
            "Versions, status, configuration, metrics, logs, stacks, memory, storage,",
            "JVM options and limits of the system. Works without a worker or launcher."
        },
        footer = {"", "Example: millctl support bundle --out bundle.tar.gz"})
public final class SupportBundleCommand implements Callable<Integer> {
    /** Timeout of each request. It is short, since users also create a bundle when the instance hangs. */
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private static final int LINES_DEFAULT = 1000;
    private static final int LINES_MAX = 100_000;
    private static final int DIRECTORIES_MAX = 8;

    @Option(names = "--out", paramLabel = "FILE", description = "The archive. Default: millrace-support-TIME.tar.gz.")
    private @Nullable Path out;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Configuration file, if no launcher runs. Default: /etc/millrace/millrace.yaml.")
    private @Nullable Path config;

    @Option(names = "--log", paramLabel = "FILE", description = "Add the last lines of this log too; may be repeated.")
    private List<Path> logs = List.of();

    @Option(
            names = "--log-lines",
            paramLabel = "N",
            description = "Last lines of each log, 0 to 100000. Default: 1000.")
    private int lines = LINES_DEFAULT;

    @Option(names = "--with-addresses", description = "Keep client addresses in logs instead of hashes.")
    private boolean withAddresses;

    private final Invocation invocation;

    public SupportBundleCommand(Invocation invocation) {
        this.invocation = invocation;
    }

    @Override
    public Integer call() throws CommandFailure {
        if (lines < 0 || lines > LINES_MAX) {
            throw new CommandFailure(
                    ExitCode.USAGE, "--log-lines is a number from 0 to " + LINES_MAX + ", not " + lines);
        }
        Instant now = Instant.now();
        String folder = "millrace-support-"
                + DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss")
                        .withZone(ZoneOffset.UTC)
                        .format(now);
        Path file = out == null ? Path.of(folder + ".tar.gz") : out;
        if (Files.exists(file)) {
            throw existsFailure(file);
        }
        BundleContent content = new BundleContent();
        Redaction redaction = new Redaction(withAddresses ? null : new AddressHash());
        addVersions(content, now);
        collect(content, redaction);
        List<String> redactions = redaction.report();
        try {
            content.write(file, folder, redactions, now.getEpochSecond());
        } catch (FileAlreadyExistsException e) {
            throw existsFailure(file);
        } catch (IOException e) {
            throw new CommandFailure(
                    ExitCode.FAILED,
                    file + ": cannot be written (" + e.getMessage() + ")",
                    "name a file in a directory with free space: --out FILE");
        }
        show(file, content, redactions);
        return ExitCode.OK;
    }

    private static CommandFailure existsFailure(Path file) {
        return new CommandFailure(ExitCode.USAGE, file + " exists; name another file: --out FILE");
    }

    private static void addVersions(BundleContent content, Instant now) {
        String version;
        try {
            version = String.join("\n", new Version().getVersion());
        } catch (IOException e) {
            version = "millctl unknown";
        }
        content.add(
                "version.txt",
                version + "\n" + System.getProperty("java.vm.name") + ", " + System.getProperty("java.vendor") + "\n"
                        + System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                        + System.getProperty("os.arch") + "\nmade at " + now + " by user "
                        + System.getProperty("user.name") + "\n");
    }

    private void collect(BundleContent content, Redaction redaction) throws CommandFailure {
        ApiParts api = new ApiParts(content, redaction);
        AdminAddress address = invocation.addressIfAny();
        if (address == null) {
            api.missing("no Millrace, or several, run on this machine; name one with --admin");
        } else {
            api.collect(invocation.clientOf(address, TIMEOUT));
        }
        if (address instanceof AdminAddress.Tcp) {
            content.addMissing("files and processes", "--admin is a URL: run this on the machine itself, too");
            return;
        }
        ProcessEnvironment environment = invocation.environment();
        LocalParts local = new LocalParts(content, redaction);
        List<Path> states = states(address, environment);
        addConfig(api, local);
        local.options(environment);
        addLogs(content, api, local, states);
        Set<Long> pids = new LinkedHashSet<>(api.pids());
        for (Path state : states) {
            local.listing(state);
            addPid(state.resolve("launcher.lock"), pids);
            addPid(state.resolve("run/worker.pid"), pids);
        }
        pids.forEach(local::process);
        List<Path> places = new ArrayList<>(states);
        places.add(Path.of("/tmp"));
        local.system(places);
    }

    private void addConfig(ApiParts api, LocalParts local) {
        String running = api.configFile();
        Path file = config != null
                ? config
                : running != null && Files.exists(Path.of(running))
                        ? Path.of(running)
                        : Path.of("/etc/millrace/millrace.yaml");
        local.config("config/millrace.yaml", file);
    }

    private void addLogs(BundleContent content, ApiParts api, LocalParts local, List<Path> states) {
        local.journal(lines);
        String configured = api.setting("log.access.path");
        Set<Path> places = new LinkedHashSet<>();
        if (configured != null && configured.startsWith("/")) {
            places.add(Path.of(configured));
        }
        places.add(Path.of("/var/log/millrace/access.log"));
        states.forEach(state -> places.add(state.resolve("log/access.log")));
        boolean found = false;
        for (Path place : places) {
            local.crashes(place.resolveSibling("."));
            if (!found && Files.exists(place)) {
                local.log("log/access.log", place, lines);
                found = true;
            }
        }
        if (!found) {
            content.addMissing("log/access.log", "found no access log; name it with --log FILE");
        }
        for (int i = 0; i < logs.size(); i++) {
            local.log(
                    "log/" + (i + 1) + "-"
                            + archiveName(String.valueOf(logs.get(i).getFileName())),
                    logs.get(i),
                    lines);
        }
    }

    /** Returns a file name that is safe in the archive: visible ASCII, at most 50 characters. */
    private static String archiveName(String name) {
        StringBuilder archiveName = new StringBuilder();
        for (int i = 0; i < Math.min(name.length(), 50); i++) {
            char c = name.charAt(i);
            archiveName.append(c > ' ' && c < 0x7f && c != '/' ? c : '_');
        }
        return archiveName.toString();
    }

    /** Returns the state directory of the named instance, or of all instances in the standard locations. */
    private static List<Path> states(@Nullable AdminAddress address, ProcessEnvironment environment) {
        Set<Path> states = new LinkedHashSet<>();
        if (address instanceof AdminAddress.UnixSocket socket && socket.path().getParent() != null) {
            states.add(socket.path().toAbsolutePath().getParent());
        } else {
            for (Instances.Candidate candidate : Instances.find(environment.runDirectory(), environment.stateHome())
                    .checked()) {
                states.add(candidate.socket().toAbsolutePath().getParent());
            }
            states.addAll(below(environment.stateHome()));
        }
        states.add(Path.of("/var/lib/millrace"));
        List<Path> found = new ArrayList<>();
        for (Path state : states) {
            if (Files.isDirectory(state) && found.size() < DIRECTORIES_MAX) {
                found.add(state);
            }
        }
        return found;
    }

    private static List<Path> below(Path home) {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(home)) {
            entries.forEach(found::add);
        } catch (IOException e) {
            // The directory does not exist if this user never ran a launcher.
            return List.of();
        }
        return found;
    }

    /** Adds the process id at the beginning of a file, such as {@code run/worker.pid}. */
    private static void addPid(Path file, Set<Long> pids) {
        String text = LocalParts.contentOf(file);
        int end = 0;
        while (text != null && end < text.length() && Character.isDigit(text.charAt(end))) {
            end++;
        }
        if (text != null && end > 0 && end < 12) {
            pids.add(Long.parseLong(text.substring(0, end)));
        }
    }

    private void show(Path file, BundleContent content, List<String> redactions) {
        if (invocation.isJson()) {
            invocation.console().json(JsonTree.object(json -> json.text("file", file.toString())
                    .texts("parts", content.names())
                    .array("missing", content.missing().entrySet(), (one, missing) -> one.text("part", missing.getKey())
                            .text("reason", missing.getValue()))
                    .texts("redactions", redactions)));
            return;
        }
        List<String> shown = new ArrayList<>();
        shown.add("wrote " + file + ": " + content.names().size() + " parts, mode 0600");
        shown.add("redacted");
        redactions.forEach(line -> shown.add("  " + line));
        invocation.console().data(shown);
        content.missing().forEach((name, reason) -> invocation.console().say("missing " + name + ": " + reason));
        invocation.console().say("Read it before you send it: tar -xzf " + file);
    }
}
