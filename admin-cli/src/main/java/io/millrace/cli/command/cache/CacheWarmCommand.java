package io.millrace.cli.command.cache;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.log.LogFailure;
import io.millrace.cli.render.cache.WarmView;
import io.millrace.cli.warm.Endpoint;
import io.millrace.cli.warm.Feed;
import io.millrace.cli.warm.ProxiedDocuments;
import io.millrace.cli.warm.ProxyLink;
import io.millrace.cli.warm.ResumeFile;
import io.millrace.cli.warm.WarmRun;
import io.millrace.cli.warm.WarmTally;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "warm",
        abbreviateSynopsis = true,
        description = {
            "Request URLs through the proxy, so that it stores them.",
            "The URLs come from one of --sitemap, --list, --access-log, --tag, --purged."
        },
        footer = "Example: millctl cache warm --sitemap https://www.example.com/sitemap.xml")
public final class CacheWarmCommand extends ApiCommand {
    /** Longest wait for further bytes of a response, if {@code --timeout} is not set. */
    private static final Duration READ_TIMEOUT = Duration.ofSeconds(30);

    private static final int CONCURRENCY_MAX = 64;
    private static final double RATE_MAX = 100_000;
    /** Time that the process waits at its exit for the end of the run. */
    private static final long EXIT_SECONDS = 8;

    @Option(names = "--sitemap", paramLabel = "URL|FILE", description = "A sitemap or an index of sitemaps.")
    private @Nullable String sitemap;

    @Option(names = "--list", paramLabel = "FILE", description = "One URL on each line; - is standard input.")
    private @Nullable String list;

    @Option(names = "--access-log", paramLabel = "FILE", description = "GET requests in a log; - is standard input.")
    private @Nullable String accessLog;

    @Option(names = "--tag", paramLabel = "TAG", description = "Objects with this tag; may be repeated.")
    private List<String> tags = new ArrayList<>();

    @Option(names = "--purged", paramLabel = "ID", description = "Objects that a purge covers.")
    private @Nullable String purged;

    @Option(names = "--base", paramLabel = "URL", description = "Scheme and host for a log without hosts.")
    private @Nullable String base;

    @Option(names = "--rate", paramLabel = "N", description = "Requests per second at most; default 50.")
    private double rate = 50;

    @Option(names = "--concurrency", paramLabel = "N", description = "Requests at a time, 1 to 64; default 4.")
    private int concurrency = 4;

    @Option(names = "--resume", paramLabel = "FILE", description = "Keep the progress here, and continue from it.")
    private @Nullable Path resume;

    @Option(names = "--via", paramLabel = "URL", description = "Listener; default: those of the running proxy.")
    private List<String> via = new ArrayList<>();

    @Option(
            names = {"-H", "--header"},
            paramLabel = "FIELD",
            description = "Request field, 'Name: value'; may be repeated.")
    private List<String> fields = new ArrayList<>();

    public CacheWarmCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected void check() throws CommandFailure {
        int inputs = (sitemap == null ? 0 : 1) + (list == null ? 0 : 1) + (accessLog == null ? 0 : 1);
        if (inputs + (tags.isEmpty() ? 0 : 1) + (purged == null ? 0 : 1) != 1) {
            throw usage("one of --sitemap, --list, --access-log, --tag and --purged is needed");
        }
        if (!(rate >= 0.01 && rate <= RATE_MAX)) {
            throw usage("--rate: actual=" + rate + ", expected a number from 0.01 to 100000");
        }
        if (concurrency < 1 || concurrency > CONCURRENCY_MAX) {
            throw usage("--concurrency: actual=" + concurrency + ", expected a number from 1 to " + CONCURRENCY_MAX);
        }
        if (resume != null && inputs == 0) {
            throw usage(
                    "--resume needs --sitemap, --list or --access-log; with --tag or --purged, run the command again:"
                            + " objects that were revalidated are fresh");
        }
        if (base != null && accessLog == null) {
            throw usage("--base needs --access-log");
        }
        if (invocation().watch() != null) {
            throw usage("--watch is only for commands that change nothing");
        }
        CacheLookupCommand.checkFields(fields);
        for (String field : fields) {
            checkField(field);
        }
    }

    private static void checkField(String field) throws CommandFailure {
        String name = field.substring(0, field.indexOf(':')).strip();
        for (String refused : List.of("Host", "Content-Length", "Transfer-Encoding", "Connection")) {
            if (name.equalsIgnoreCase(refused)) {
                throw usage("--header: " + refused + " cannot be set, because it follows from the request");
            }
        }
        for (int i = 0; i < field.length(); i++) {
            if (field.charAt(i) < ' ' || field.charAt(i) > '~') {
                throw usage("--header: the value has a character other than visible ASCII and spaces: " + name);
            }
        }
    }

    private static CommandFailure usage(String message) {
        return new CommandFailure(ExitCode.USAGE, message);
    }

    @Override
    protected boolean isLocal() {
        return true;
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        JsonObject status = answered(client.get("/v1/status"));
        try (ProxyLink documents = new ProxyLink(fields, invocation().timeout(READ_TIMEOUT))) {
            List<Endpoint> endpoints = new ArrayList<>();
            for (String each : via) {
                endpoints.add(Endpoint.parse(each));
            }
            if (endpoints.isEmpty()) {
                endpoints.addAll(Endpoint.of(status, client.address()));
            }
            WarmInput input = new WarmInput(this, client, new ProxiedDocuments(documents, endpoints));
            try (Feed feed = new Feed(input.open())) {
                int exitCode = warm(feed, List.copyOf(endpoints), input.name());
                input.notes().forEach(console()::say);
                return exitCode;
            }
        } catch (IllegalArgumentException e) {
            throw usage("--via: " + e.getMessage());
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.FAILED, LogFailure.text(e), next());
        }
    }

    private String[] next() {
        return resume == null ? new String[0] : new String[] {"continue with the same command"};
    }

    private int warm(Feed feed, List<Endpoint> endpoints, String name) throws IOException, CommandFailure {
        WarmTally tally = new WarmTally();
        ResumeFile file = resume == null ? null : ResumeFile.open(resume, name, tally);
        if (file != null && file.position() > 0) {
            console().say("continuing after " + file.position() + " URLs");
        }
        WarmRun.Options options =
                new WarmRun.Options(rate, concurrency, fields, invocation().timeout(READ_TIMEOUT));
        WarmRun run = new WarmRun(feed, endpoints, options, tally, file, this::progress);
        CountDownLatch ended = new CountDownLatch(1);
        Thread atExit = new Thread(() -> endAtExit(run, ended), "end-warming");
        Runtime.getRuntime().addShutdownHook(atExit);
        try {
            long begunNanos = invocation().clock().nanoTime();
            WarmRun.End end = run.run();
            report(
                    tally,
                    feed,
                    end == WarmRun.End.COMPLETE,
                    invocation().clock().nanoTime() - begunNanos);
            return exitCode(end, run, tally);
        } finally {
            console().flush();
            ended.countDown();
            removeHook(atExit);
        }
    }

    private int exitCode(WarmRun.End end, WarmRun run, WarmTally tally) throws CommandFailure {
        switch (end) {
            case UNREACHABLE ->
                throw new CommandFailure(
                        ExitCode.UNREACHABLE,
                        String.valueOf(run.unreachable()),
                        resume == null ? "name another listener: --via http://HOST:PORT" : next()[0]);
            case STOPPED -> {
                console()
                        .say(
                                resume == null
                                        ? "interrupted; with --resume FILE a run can be continued"
                                        : "interrupted; continue with the same command (progress is in " + resume
                                                + ")");
                return ExitCode.INTERRUPTED;
            }
            default -> {
                return tally.failures() > 0 ? ExitCode.FAILED : ExitCode.OK;
            }
        }
    }

    private void report(WarmTally tally, Feed feed, boolean complete, long nanos) {
        if (invocation().isJson()) {
            console().json(WarmView.json(tally, feed, complete, nanos / 1e9));
        } else {
            console().data(WarmView.lines(tally, feed, complete, TimeUnit.NANOSECONDS.toSeconds(nanos)));
        }
    }

    private void progress(String line) {
        console().say(line);
    }

    /** Stops the run at an interrupt, and waits until its progress is saved and its report printed. */
    private static void endAtExit(WarmRun run, CountDownLatch ended) {
        run.stop();
        try {
            boolean isDone = ended.await(EXIT_SECONDS, TimeUnit.SECONDS);
            if (!isDone) {
                // The input blocks the thread of the run, so this thread saves the progress.
                run.saveAtExit();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void removeHook(Thread atExit) {
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            // The process is exiting, so the shutdown hook was started and cannot be removed.
        }
    }

    @Nullable
    String sitemap() {
        return sitemap;
    }

    @Nullable
    String list() {
        return list;
    }

    @Nullable
    String accessLog() {
        return accessLog;
    }

    List<String> tags() {
        return tags;
    }

    String purged() {
        return String.valueOf(purged);
    }

    String base() {
        return base == null ? "" : base;
    }

    Invocation invoked() {
        return invocation();
    }

    /** Returns the JSON of a successful response. For an error response, throws a failure with its error message. */
    JsonObject read(AdminResponse response) throws AdminClientException, CommandFailure {
        return answered(response);
    }
}
