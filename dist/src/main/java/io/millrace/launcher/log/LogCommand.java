package io.millrace.launcher.log;

import io.millrace.launcher.exit.ExitCode;
import io.millrace.launcher.exit.FileFailure;
import io.millrace.launcher.exit.LaunchException;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.expression.logged.LoggedFacts;
import io.millrace.proxy.expression.logged.LoggedFields;
import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.LogTemplateException;
import io.millrace.proxy.observe.log.block.BlockReader;
import io.millrace.proxy.observe.log.block.BlockSchema;
import io.millrace.proxy.observe.log.block.Column;
import io.millrace.proxy.observe.log.block.Row;
import io.millrace.proxy.observe.log.reader.BinaryLogFile;
import io.millrace.proxy.observe.log.reader.LinePrinter;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** The command {@code millrace log cat FILE...}: prints binary access logs as text, without a running proxy. */
@Command(
        name = "log",
        description = "Prints binary access logs as text.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = LogCommand.Cat.class)
public final class LogCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    private final InputStream in;
    private final PrintStream out;

    /**
     * @param in standard input
     * @param out receives the lines
     */
    public LogCommand(InputStream in, PrintStream out) {
        this.in = in;
        this.out = out;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "the command is missing: cat");
    }

    @Command(
            name = "cat",
            description = "Prints the requests of binary logs, one on each line.",
            mixinStandardHelpOptions = true,
            exitCodeListHeading = "%nExit codes:%n",
            exitCodeList = {
                "0:every block was read",
                "1:a file cannot be read, or a part of it is damaged; the other blocks are printed",
                "2:wrong arguments"
            })
    static final class Cat implements Callable<Integer> {
        /** Interval at which {@code --follow} reads new requests. */
        private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

        /** Number of further reads of an incomplete last block. After them, the block counts as damaged. */
        private static final int INCOMPLETE_POLLS = 20;

        private static final long INCOMPLETE_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

        @Spec
        @SuppressWarnings("NullAway.Init")
        private CommandSpec spec;

        @ParentCommand
        @SuppressWarnings("NullAway.Init")
        private LogCommand parent;

        @Parameters(paramLabel = "FILE", arity = "1..*", description = "Binary logs, also .gz; - is standard input.")
        private List<String> files = List.of();

        @Option(
                names = "--format",
                paramLabel = "FORMAT",
                description = "squid, combined, common, json, or a template of %%<code>. Default: squid.")
        private String format = AccessLogFormat.SQUID.toString();

        @Option(names = "--where", paramLabel = "EXPR", description = "Only requests for which this expression holds.")
        private @Nullable String where;

        @Option(names = "--follow", description = "Continue with new requests of the file, across rotations.")
        private boolean isFollowing;

        @Option(names = "--fields", description = "Print the names and types of the fields instead of the requests.")
        private boolean showsFields;

        /** True if a file could not be read. */
        private boolean hasFailed;

        @Override
        public Integer call() throws LaunchException {
            if (isFollowing
                    && (files.size() > 1 || files.contains("-") || files.get(0).endsWith(".gz"))) {
                throw new LaunchException("--follow needs one log that is not compressed", ExitCode.USAGE);
            }
            if (showsFields) {
                FieldPrinter fields = new FieldPrinter(parent.out, this::warn);
                for (String file : files) {
                    fields.file = file;
                    fields.isShown = false;
                    readOrWarn(file, () -> read(file, fields));
                }
                parent.out.flush();
                return fields.hasDamage || hasFailed ? ExitCode.FAILED : ExitCode.OK;
            }
            LinePrinter printer = new LinePrinter(textFormat(), filter(), parent.out, this::warn);
            boolean isOutputOpen = true;
            for (int i = 0; i < files.size() && isOutputOpen; i++) {
                isOutputOpen = print(files.get(i), printer);
            }
            return printer.hasDamage() || hasFailed ? ExitCode.FAILED : ExitCode.OK;
        }

        /**
         * Prints the lines of a file, including those before a read error. Returns false if the reader of the output
         * has ended, so that no other file is to be printed.
         */
        private boolean print(String name, LinePrinter printer) {
            printer.file(name);
            return readOrWarn(name, () -> {
                try {
                    return isFollowing ? follow(Path.of(name), printer) : read(name, printer);
                } finally {
                    printer.flush();
                }
            });
        }

        /**
         * Reads a file. Prints a warning if that fails. Returns false if the reader of the output has ended, so that no
         * other file is to be read.
         */
        private boolean readOrWarn(String name, Reading reading) {
            try {
                return reading.read();
            } catch (IOException e) {
                hasFailed = true;
                warn(FileFailure.text(Path.of(name), e));
                return true;
            }
        }

        /** The reading of one file. */
        private interface Reading {
            /** Returns false if the reader of the output has ended. */
            boolean read() throws IOException;
        }

        private void warn(String message) {
            spec.commandLine().getErr().println("millrace: " + message);
        }

        private AccessLogFormat textFormat() throws LaunchException {
            try {
                AccessLogFormat parsed = AccessLogFormat.of(format);
                if (!parsed.isBinary()) {
                    return parsed;
                }
            } catch (LogTemplateException e) {
                throw new LaunchException("--format: " + e.getMessage(), ExitCode.USAGE);
            }
            throw new LaunchException(
                    "--format: 'binary' cannot be printed; expected squid, combined, common, json or a template",
                    ExitCode.USAGE);
        }

        private @Nullable Expression<LoggedFacts> filter() throws LaunchException {
            try {
                return where == null ? null : Expression.parse(where, LoggedFields.SCHEMA);
            } catch (ExpressionException e) {
                throw new LaunchException("--where: position " + e.message(), ExitCode.USAGE);
            }
        }

        private boolean read(String name, BlockReader.Visitor visitor) throws IOException {
            if (name.equals("-")) {
                return BinaryLogFile.read(parent.in, visitor);
            }
            Path file = Path.of(name);
            if (name.endsWith(".gz")
                    || !Files.readAttributes(file, BasicFileAttributes.class).isRegularFile()) {
                try (InputStream opened = BinaryLogFile.open(file)) {
                    return BinaryLogFile.read(opened, visitor);
                }
            }
            try (BinaryLogFile log = new BinaryLogFile(file, visitor)) {
                boolean isOutputOpen = log.poll();
                // The writer may be writing the last block at this moment.
                for (int i = 0; i < INCOMPLETE_POLLS && isOutputOpen && log.isIncomplete(); i++) {
                    LockSupport.parkNanos(INCOMPLETE_POLL_NANOS);
                    isOutputOpen = log.poll();
                }
                if (isOutputOpen) {
                    log.finish();
                }
                return isOutputOpen;
            }
        }

        /** Follows a file until the reader of the output or the parent process has ended. */
        private boolean follow(Path file, LinePrinter printer) throws IOException {
            long parentPid = parentPid();
            try (BinaryLogFile log = new BinaryLogFile(file, printer)) {
                while (log.poll() && printer.flush() && parentPid() == parentPid) {
                    LockSupport.parkNanos(POLL_NANOS);
                }
                return false;
            }
        }

        private static long parentPid() {
            return ProcessHandle.current().parent().map(ProcessHandle::pid).orElse(0L);
        }
    }

    /** Prints the columns of a log. */
    private static final class FieldPrinter implements BlockReader.Visitor {
        private final PrintStream out;
        private final Consumer<String> warnings;
        private String file = "";
        private boolean isShown;
        private boolean hasDamage;

        FieldPrinter(PrintStream out, Consumer<String> warnings) {
            this.out = out;
            this.warnings = warnings;
        }

        @Override
        public void schema(BlockSchema schema) {
            if (!isShown) {
                isShown = true;
                for (Column column : schema.columns()) {
                    out.print(column.name() + " " + column.type().name().toLowerCase(Locale.ROOT) + "\n");
                }
            }
        }

        @Override
        public boolean row(Row row) {
            return false;
        }

        @Override
        public void damaged(long offset, String reason) {
            hasDamage = true;
            warnings.accept(file + ": at byte " + offset + ": " + reason);
        }
    }
}
