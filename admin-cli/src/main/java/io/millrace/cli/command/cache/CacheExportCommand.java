package io.millrace.cli.command.cache;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.command.MarkedExpression;
import io.millrace.cli.command.TargetUrl;
import io.millrace.cli.log.LogFailure;
import io.millrace.cli.render.cache.CopyReport;
import io.millrace.cli.warc.Spool;
import io.millrace.cli.warc.WarcWriter;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "export",
        abbreviateSynopsis = true,
        description = {
            "Write stored responses into a WARC file.",
            "Responses in RAM only, parts, and purged responses are left out."
        },
        footer = "Example: millctl cache export --host www.example.com --out www.warc.gz")
public final class CacheExportCommand extends ApiCommand {
    private static final Duration TIMEOUT = Duration.ofSeconds(40);
    private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(5);

    @Option(names = "--host", paramLabel = "HOST", description = "Only URLs of this host; with a port if not default.")
    private @Nullable String host;

    @Option(names = "--where", paramLabel = "EXPR", description = "Only responses for which the expression holds.")
    private @Nullable String where;

    @Option(
            names = "--out",
            required = true,
            paramLabel = "FILE",
            description = "The file; compressed if its name ends in .gz.")
    private Path out = Path.of("");

    @Option(names = "--force", description = "Replace an existing file.")
    private boolean force;

    private final CopyReport report = new CopyReport();
    private boolean isInventoryComplete = true;
    private long lastProgressNanos;

    public CacheExportCommand(Invocation invocation) {
        super(invocation, TIMEOUT);
    }

    @Override
    protected void check() throws CommandFailure {
        if (host == null && where == null) {
            throw new CommandFailure(ExitCode.USAGE, "one of --host and --where is needed");
        }
        if (invocation().watch() != null) {
            throw new CommandFailure(ExitCode.USAGE, "--watch is only for commands that change nothing");
        }
        if (!force && Files.exists(out)) {
            throw new CommandFailure(ExitCode.USAGE, "--out: " + out + " exists; --force replaces it");
        }
        if (!Files.isDirectory(directory())) {
            throw new CommandFailure(ExitCode.USAGE, "--out: there is no directory " + directory());
        }
    }

    private Path directory() {
        Path parent = out.toAbsolutePath().getParent();
        return parent == null ? Path.of("/") : parent;
    }

    @Override
    protected boolean isLocal() {
        return true;
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        lastProgressNanos = System.nanoTime();
        try {
            boolean isDone = false;
            // Exclusive, with an unpredictable name and mode 0600: responses may be confidential.
            Path unfinished = Files.createTempFile(directory(), ".millctl-export", null);
            unfinished.toFile().deleteOnExit();
            try (WarcWriter warc = new WarcWriter(
                    new BufferedOutputStream(
                            Files.newOutputStream(unfinished, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)),
                    out.toString().endsWith(".gz"))) {
                JsonObject status = answered(client.get("/v1/status"));
                warc.info("Millrace/" + status.text("version", "unknown"), System.currentTimeMillis());
                export(client, warc);
                isDone = true;
            } finally {
                if (!isDone) {
                    Files.deleteIfExists(unfinished);
                }
            }
            Files.move(unfinished, out, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.FAILED, LogFailure.text(e));
        }
        if (!isInventoryComplete) {
            console().say("the inventory (list of stored responses) is not complete, so responses may be missing");
        }
        if (invocation().isJson()) {
            console().json(report.json("exported", isInventoryComplete));
        } else {
            console().data(report.lines("exported"));
        }
        return ExitCode.OK;
    }

    private void export(AdminClient client, WarcWriter warc) throws AdminClientException, CommandFailure, IOException {
        StringBuilder first = new StringBuilder("/v1/cache/list?limit=1000");
        first.append(host == null ? "" : "&host=" + TargetUrl.encoded(host));
        first.append(where == null ? "" : "&where=" + TargetUrl.encoded(where));
        String after = null;
        do {
            JsonObject page = answered(client.get(first + (after == null ? "" : "&after=" + TargetUrl.encoded(after))));
            isInventoryComplete &= page.isTrue("complete");
            for (JsonObject object : page.objects("objects")) {
                if (object.isTrue("whole")) {
                    export(client, warc, object.text("key", ""), object.text("url", ""));
                } else {
                    report.leftOut("partial", object.text("url", ""));
                }
                progress();
            }
            after = page.text("next");
        } while (after != null);
    }

    private void export(AdminClient client, WarcWriter warc, String key, String url)
            throws AdminClientException, CommandFailure, IOException {
        AdminResponse response = client.get("/v1/cache/object?key=" + key);
        if (countIfLeftOut(response, url)) {
            return;
        }
        JsonObject object = answered(response);
        try (Spool content = new Spool(directory())) {
            long length = object.number("length", 0);
            while (content.length() < length) {
                AdminResponse part = client.get("/v1/cache/object/content?key=" + key + "&version="
                        + TargetUrl.encoded(object.text("version", "")) + "&position=" + content.length());
                if (countIfLeftOut(part, url)) {
                    return;
                }
                if (!part.isSuccess()) {
                    throw refused(part);
                }
                content.add(part.body());
            }
            write(warc, object, content);
            report.copied(length);
        }
    }

    /** Counts a response that cannot be copied, with the error code as the reason. Returns false for all others. */
    private boolean countIfLeftOut(AdminResponse response, String url) throws AdminClientException {
        if (response.status() != 404 && response.status() != 409) {
            return false;
        }
        String code = response.json().object("error").text("code", "");
        if (code.equals("not-found")) {
            // An older Millrace without this resource.
            return false;
        }
        report.leftOut(code, url);
        return true;
    }

    private void write(WarcWriter warc, JsonObject object, Spool content) throws IOException {
        String url = object.text("url", "");
        String received = WarcWriter.date(object.number("received_at_ms", 0));
        String requestId = WarcWriter.newId();
        String responseId = WarcWriter.newId();
        Map<String, String> asked = record("request", requestId, received, url);
        asked.put("WARC-Concurrent-To", responseId);
        asked.put("Content-Type", "application/http;msgtype=request");
        warc.record(asked, request(url, object).getBytes(StandardCharsets.ISO_8859_1), null);
        Map<String, String> fields = record("response", responseId, received, url);
        fields.put("WARC-Concurrent-To", requestId);
        fields.put("Content-Type", "application/http;msgtype=response");
        fields.put("Millrace-Requested", WarcWriter.date(object.number("requested_at_ms", 0)));
        fields.put("Millrace-Exported", WarcWriter.date(object.number("now_ms", 0)));
        fields.put("Millrace-Age", Long.toString(object.number("age_seconds", 0)));
        fields.put("Millrace-Lifetime", Long.toString(object.number("freshness_lifetime_seconds", 0)));
        String tags = object.text("tags", "");
        if (!tags.isEmpty()) {
            fields.put("Millrace-Tags", tags);
        }
        byte[] head = Base64.getDecoder().decode(object.text("head", ""));
        byte[] begin = Arrays.copyOf(head, head.length + 2);
        begin[head.length] = '\r';
        begin[head.length + 1] = '\n';
        warc.record(fields, begin, content);
    }

    private static Map<String, String> record(String type, String id, String date, String url) {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("WARC-Type", type);
        fields.put("WARC-Record-ID", id);
        fields.put("WARC-Date", date);
        fields.put("WARC-Target-URI", url);
        return fields;
    }

    private static String request(String url, JsonObject object) {
        int host = url.indexOf("://") + 3;
        int path = url.indexOf('/', host);
        StringBuilder request = new StringBuilder("GET ");
        request.append(path < 0 ? "/" : url.substring(path)).append(" HTTP/1.1\r\nHost: ");
        request.append(path < 0 ? url.substring(host) : url.substring(host, path))
                .append("\r\n");
        for (String field : object.texts("request_fields")) {
            request.append(field).append("\r\n");
        }
        return request.append("\r\n").toString();
    }

    private void progress() {
        long now = System.nanoTime();
        if (now - lastProgressNanos >= PROGRESS_NANOS) {
            lastProgressNanos = now;
            console().say("exported " + report.progress());
        }
    }

    @Override
    protected String[] usageLines(String message) {
        return where == null ? super.usageLines(message) : MarkedExpression.lines(where, message);
    }
}
