package io.millrace.cli.command.traffic;

import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.command.LocalRun;
import io.millrace.cli.log.BinaryLog;
import io.millrace.cli.log.LineSource;
import io.millrace.cli.log.LogFailure;
import io.millrace.cli.log.LogFilter;
import io.millrace.cli.log.LogFollower;
import io.millrace.cli.log.LogLine;
import io.millrace.cli.log.LogParser;
import io.millrace.cli.log.LogStats;
import io.millrace.cli.log.ProgressFile;
import io.millrace.cli.render.LogView;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The commands {@code millctl log}: cat, stats and tail. They read files and need no running proxy. */
public final class LogCommands {
    private LogCommands() {}

    /** Base class of the commands, with the options for filters. Confined to one thread. */
    abstract static class LogCommand implements Callable<Integer> {
        @Option(
                names = {"-F", "--filter"},
                paramLabel = "NAME=VALUE",
                description = "Only lines with status=5xx, host=, cache=hit, client=10.0.0.0/8, url=REGEX, method=,"
                        + " result=, origin=, type=, slower=500ms. May be repeated; all must hold.")
        private List<String> filters = List.of();

        @Option(
                names = "--since",
                paramLabel = "TIME",
                description = "Only requests since 10m, 2h or 7d ago, or since 2026-11-22T10:00:00Z.")
        @Nullable
        private String since;

        private final Invocation invocation;
        private LogFilter filter = LogFilter.of(List.of(), Long.MIN_VALUE);

        LogCommand(Invocation invocation) {
            this.invocation = invocation;
        }

        final Invocation invocation() {
            return invocation;
        }

        final LogFilter filter() {
            return filter;
        }

        @Override
        public final Integer call() throws CommandFailure {
            try {
                filter = LogFilter.of(filters, LogPlaces.since(since));
            } catch (IllegalArgumentException e) {
                throw new CommandFailure(ExitCode.USAGE, String.valueOf(e.getMessage()));
            }
            try {
                return read();
            } catch (IOException e) {
                throw new CommandFailure(ExitCode.FAILED, LogFailure.text(e));
            } catch (IllegalArgumentException e) {
                throw new CommandFailure(ExitCode.FAILED, String.valueOf(e.getMessage()));
            }
        }

        /** Reads the log and prints the result. Returns the exit code. */
        abstract int read() throws IOException, CommandFailure;

        /** Prints a line if it matches the filter, with {@code -o json} as an object. */
        final void show(String line) {
            LogLine parsed = filter.isEmpty() && !invocation.isJson() ? null : LogParser.parse(line);
            if (!filter.matches(parsed)) {
                return;
            }
            if (!invocation.isJson()) {
                invocation.console().data(List.of(LogView.line(line)));
            } else if (parsed != null) {
                invocation.console().json(LogView.json(parsed));
            }
        }
    }

    /** Base class of the commands that read log files from the beginning to the end. */
    abstract static class WholeFileCommand extends LogCommand {
        private static final int LINES_PER_FLUSH = 1024;

        @Parameters(
                paramLabel = "FILE",
                arity = "0..*",
                description = "Logs, also .gz; - is standard input. Default: the log of this machine's millrace.")
        private List<String> files = List.of();

        private long count;
        private int exitCode = ExitCode.OK;

        WholeFileCommand(Invocation invocation) {
            super(invocation);
        }

        /** Returns the options of {@code millrace log cat} for a binary log. */
        abstract List<String> binaryOptions() throws CommandFailure;

        /** Returns true if an option is set that works only with binary logs. */
        boolean hasBinaryOptions() {
            return false;
        }

        @Override
        final int read() throws IOException, CommandFailure {
            read(files.isEmpty() ? List.of(LogPlaces.accessLog(invocation()).toString()) : files);
            return exitCode;
        }

        void read(List<String> names) throws IOException, CommandFailure {
            for (String name : names) {
                if (name.equals("-")) {
                    read(
                            name,
                            new BufferedInputStream(invocation().environment().input()));
                    continue;
                }
                try (BufferedInputStream in = BinaryLog.open(Path.of(name))) {
                    read(name, in);
                } catch (IOException e) {
                    throw LogFailure.of(Path.of(name), e);
                }
            }
            finish();
        }

        private void read(String name, BufferedInputStream in) throws IOException, CommandFailure {
            boolean isBinary = BinaryLog.isNextIn(in)
                    || (!name.equals("-") && BinaryLog.is(Path.of(name)))
                    || (hasBinaryOptions() && BinaryLog.isEmpty(in));
            if (isBinary) {
                readBinary(name, in);
            } else {
                requireNoBinaryOptions(name);
                readText(in);
            }
        }

        private void requireNoBinaryOptions(String name) throws CommandFailure {
            if (hasBinaryOptions()) {
                throw new CommandFailure(
                        ExitCode.USAGE,
                        name + " is not a binary log, but --format, --where, --follow and --fields need one",
                        "millctl log cat -F status=5xx " + name,
                        "millctl log tail " + name);
            }
        }

        /** Reads a binary log with bin/millrace, which has the code for all formats. */
        private void readBinary(String name, InputStream in) throws CommandFailure {
            List<String> arguments = new ArrayList<>(List.of("log", "cat"));
            arguments.addAll(binaryOptions());
            arguments.addAll(List.of("--", name));
            InputStream input = name.equals("-") ? in : InputStream.nullInputStream();
            exitCode = Math.max(exitCode, LocalRun.run(invocation(), arguments, input, this::takeAndCount));
        }

        private boolean takeAndCount(String line) {
            take(line);
            count++;
            return count % linesPerFlush() != 0 || invocation().console().flush();
        }

        /** Returns the number of lines after which standard output is flushed. */
        int linesPerFlush() {
            return LINES_PER_FLUSH;
        }

        private void readText(InputStream in) throws IOException {
            LineSource lines = new LineSource();
            for (String line = lines.next(in); line != null; line = lines.next(in)) {
                if (!takeAndCount(line)) {
                    return; // the reader of the pipe, such as head(1), has closed it
                }
            }
            String rest = lines.rest();
            if (rest != null) {
                take(rest);
            }
        }

        /** Receives each line. */
        abstract void take(String line);

        /** Called after the last line. */
        void finish() {}
    }

    @Command(
            name = "cat",
            abbreviateSynopsis = true,
            description = {
                "Print access logs; with -o json one object for each line.",
                "Binary logs are printed as text. Exit code 1 if a part of one is damaged."
            },
            footer = {
                "",
                "Example: millctl log cat access.log -F status=5xx -F host=www.example.com",
                "         millctl log cat access.blog --format json --where 'duration > 1s'"
            })
    public static final class Cat extends WholeFileCommand {
        @Option(
                names = "--format",
                paramLabel = "FORMAT",
                description = "For binary logs: squid, combined, common, json, or a template of %%<code>."
                        + " Default: squid.")
        private @Nullable String format;

        @Option(
                names = "--where",
                paramLabel = "EXPR",
                description = "For binary logs: only requests for which this expression holds.")
        private @Nullable String where;

        @Option(names = "--follow", description = "For one binary log: continue with new requests.")
        private boolean isFollowing;

        @Option(names = "--fields", description = "For binary logs: print the names and types of the fields.")
        private boolean showsFields;

        public Cat(Invocation invocation) {
            super(invocation);
        }

        @Override
        boolean hasBinaryOptions() {
            return format != null || where != null || isFollowing || showsFields;
        }

        @Override
        List<String> binaryOptions() throws CommandFailure {
            boolean isTemplate = format != null && format.contains("%<");
            boolean isParsed = !filter().isEmpty() || invocation().isJson();
            if (isParsed && showsFields) {
                throw new CommandFailure(ExitCode.USAGE, "-F, --since and -o json cannot be used with --fields");
            }
            if (isParsed && isTemplate) {
                throw new CommandFailure(
                        ExitCode.USAGE,
                        "-F, --since and -o json need --format squid, combined, common or json; --where works with each"
                                + " format");
            }
            List<String> options = new ArrayList<>();
            if (format != null || invocation().isJson()) {
                options.add("--format=" + (format == null ? "json" : format));
            }
            if (where != null) {
                options.add("--where=" + where);
            }
            if (isFollowing) {
                options.add("--follow");
            }
            if (showsFields) {
                options.add("--fields");
            }
            return options;
        }

        @Override
        int linesPerFlush() {
            return isFollowing ? 1 : super.linesPerFlush();
        }

        @Override
        void take(String line) {
            show(line);
        }
    }

    @Command(
            name = "stats",
            abbreviateSynopsis = true,
            description = {
                "Count the requests of access logs by host.",
                "Shows hits, misses, errors, status codes, methods, types, bytes and times."
            },
            footer = {
                "",
                "Example: millctl log stats access.log --urls 20",
                "         millctl log stats -o json --state /var/lib/stats/edge.state"
            })
    public static final class Stats extends WholeFileCommand {
        @Option(
                names = "--hosts",
                paramLabel = "N",
                description = "Number of hosts, those with most requests. Default: 10.")
        private int hosts = 10;

        @Option(names = "--urls", paramLabel = "N", description = "The N most requested URLs, up to 1000.")
        private int urls;

        @Option(
                names = "--sample",
                paramLabel = "N",
                description = "The log has one of N requests: each line counts as N, unless it has its own N."
                        + " Figures are estimates.")
        private long sample = 1;

        @Option(
                names = "--state",
                paramLabel = "FILE",
                description = "Count only lines since the last run with this file, across rotations.")
        private @Nullable Path state;

        private @Nullable LogStats stats;

        public Stats(Invocation invocation) {
            super(invocation);
        }

        @Override
        List<String> binaryOptions() {
            return List.of("--format=json");
        }

        private LogStats stats() {
            LogStats created = stats;
            if (created == null) {
                created = new LogStats(Math.max(0, Math.min(1000, urls)));
                stats = created;
            }
            return created;
        }

        @Override
        void take(String line) {
            LogLine parsed = LogParser.parse(line);
            if (parsed == null ? !line.isBlank() : filter().matches(parsed)) {
                stats().add(parsed == null || sample == 1 || parsed.sample() > 1 ? parsed : parsed.withSample(sample));
            }
        }

        @Override
        void read(List<String> names) throws IOException, CommandFailure {
            if (sample < 1 || sample > LogLine.SAMPLE_MAX) {
                throw new CommandFailure(
                        ExitCode.USAGE, "--sample: " + sample + " is not between 1 and " + LogLine.SAMPLE_MAX);
            }
            Path file = state;
            if (file == null) {
                super.read(names);
                return;
            }
            if (names.contains("-")) {
                throw new CommandFailure(
                        ExitCode.USAGE, "--state needs a file, and cannot be used with standard input");
            }
            try (ProgressFile progress = ProgressFile.open(file)) {
                for (String name : names) {
                    if (BinaryLog.is(Path.of(name))) {
                        throw new CommandFailure(
                                ExitCode.USAGE, "--state needs logs of text, but " + name + " is a binary log");
                    }
                    progress.read(Path.of(name), this::take, message -> invocation()
                            .console()
                            .say("millctl: " + message));
                }
                finish();
                // If the output could not be written, the positions are not saved, so that the next run counts the
                // lines again.
                if (invocation().console().flush()) {
                    progress.save();
                }
            }
        }

        @Override
        void finish() {
            int shown = Math.max(0, hosts);
            if (invocation().isJson()) {
                invocation().console().json(LogView.json(stats(), shown));
            } else {
                invocation()
                        .console()
                        .data(LogView.lines(
                                stats(), shown, invocation().console().paint()));
            }
        }
    }

    @Command(
            name = "tail",
            abbreviateSynopsis = true,
            description = {
                "Print the last lines of an access log, then new lines.",
                "It follows rotations, and runs until it is interrupted."
            },
            footer = {"", "Example: millctl log tail -F cache=miss -F url='[.]js$'"})
    public static final class Tail extends LogCommand {
        private static final Duration PERIOD = Duration.ofMillis(250);

        @Parameters(
                paramLabel = "FILE",
                arity = "0..1",
                description = "The log. Default: the log of this machine's millrace.")
        @Nullable
        private String file;

        @Option(
                names = {"-n", "--lines"},
                paramLabel = "N",
                description = "Number of last lines that are printed first. Default: 10.")
        private int count = 10;

        @Option(
                names = {"-f", "--follow"},
                description = "Continue with new lines; this is the default.")
        @SuppressWarnings("UnusedVariable") // no effect: accepted because users know the option from tail -f
        private boolean follows;

        @Option(names = "--no-follow", description = "End after the last lines.")
        private boolean noFollow;

        public Tail(Invocation invocation) {
            super(invocation);
        }

        @Override
        int read() throws IOException, CommandFailure {
            Path path = file == null ? LogPlaces.accessLog(invocation()) : Path.of(file);
            if (!Files.readAttributes(path, BasicFileAttributes.class).isRegularFile()) {
                throw new FileSystemException(path.toString(), null, "is not a file; log cat also reads pipes");
            }
            if (BinaryLog.is(path)) {
                throw new CommandFailure(ExitCode.USAGE, path + " is a binary log", "millctl log cat --follow " + path);
            }
            try (LogFollower follower = new LogFollower(path)) {
                follower.last(Math.max(0, count), line -> filter().isEmpty() || filter().matches(LogParser.parse(line)))
                        .forEach(this::show);
                // Also ends if standard output is closed, or if Ctrl-C interrupts the command in the shell.
                while (!noFollow
                        && invocation().console().flush()
                        && invocation().clock().sleep(PERIOD)) {
                    follower.poll(this::show);
                }
            } catch (IOException e) {
                throw LogFailure.of(path, e);
            }
            return ExitCode.OK;
        }
    }
}
