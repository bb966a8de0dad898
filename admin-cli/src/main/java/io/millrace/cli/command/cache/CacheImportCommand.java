package io.millrace.cli.command.cache;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.log.LogFailure;
import io.millrace.cli.render.cache.CopyReport;
import io.millrace.cli.warc.WarcReader;
import io.millrace.cli.warm.LineUrls;
import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "import",
        abbreviateSynopsis = true,
        description = {
            "Store the responses of a WARC file, with their age.",
            "Leaves out a response that a rule or a later purge forbids, or that is older than the stored one."
        },
        footer = "Example: millctl cache import www.warc.gz")
public final class CacheImportCommand extends ApiCommand {
    private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(5);

    @Parameters(paramLabel = "FILE", description = "The file, also compressed; - is standard input.")
    private String file = "";

    private final CopyReport report = new CopyReport();

    public CacheImportCommand(Invocation invocation) {
        super(invocation, Invocation.CHANGE_TIMEOUT);
    }

    @Override
    protected boolean isChange() {
        return true;
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        String broken = null;
        try (WarcReader warc =
                new WarcReader(LineUrls.open(file, invocation().environment().input()))) {
            broken = read(client, warc);
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.FAILED, LogFailure.text(e));
        }
        if (invocation().isJson()) {
            console().json(report.json("imported", broken == null));
        } else {
            console().data(report.lines("imported"));
        }
        if (broken != null) {
            throw new CommandFailure(
                    ExitCode.FAILED, broken, "the responses before this place were processed; the others were not");
        }
        boolean isDamaged = report.has(ResponseUploader.DIGEST) || report.has(ResponseUploader.LENGTH);
        return isDamaged || (report.copied() == 0 && report.all() > 0) ? ExitCode.FAILED : ExitCode.OK;
    }

    private void sayTemporaryFileProblem(@Nullable String problem) {
        if (problem != null) {
            console().say("cannot write temporary files, so that responses were left out");
            console().say("  " + problem);
            console().say("make space there, or set JAVA_TOOL_OPTIONS=-Djava.io.tmpdir=DIR");
        }
    }

    /** Returns the problem of the file; null if it was read to its end. */
    private @Nullable String read(AdminClient client, WarcReader warc)
            throws AdminClientException, CommandFailure, IOException {
        ResponseUploader uploader = new ResponseUploader(client, warc, report, this::refused);
        long lastProgressNanos = System.nanoTime();
        long records = 0;
        try {
            for (WarcReader.Head head = warc.next(); head != null; head = warc.next()) {
                records++;
                uploader.record(head);
                if (System.nanoTime() - lastProgressNanos >= PROGRESS_NANOS) {
                    lastProgressNanos = System.nanoTime();
                    console().say("imported " + report.progress());
                }
            }
            return null;
        } catch (EOFException e) {
            return file + ": the file is truncated after " + records + " records";
        } catch (ProtocolException | ZipException e) {
            return file + ": not a WARC file, or damaged, after " + records + " records: " + e.getMessage();
        } finally {
            uploader.finish();
            sayTemporaryFileProblem(uploader.temporaryFileProblem());
        }
    }
}
