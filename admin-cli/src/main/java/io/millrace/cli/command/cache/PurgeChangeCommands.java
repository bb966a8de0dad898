package io.millrace.cli.command.cache;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.PurgeView;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Commands that undo or cancel a purge. */
public final class PurgeChangeCommands {
    private PurgeChangeCommands() {}

    /** Base class of the two commands. They change the purge with a given identifier. */
    private abstract static class Change extends ApiCommand {
        @Parameters(paramLabel = "ID", description = "Identifier of the purge, from 'purge list'.")
        private String id = "";

        private final String path;

        Change(Invocation invocation, String path) {
            super(invocation, Invocation.CHANGE_TIMEOUT);
            this.path = path;
        }

        @Override
        protected boolean isChange() {
            return true;
        }

        @Override
        protected int run(AdminClient client) throws AdminClientException, CommandFailure {
            AdminResponse response = client.post(path, JsonText.object("id", id));
            show(response, PurgeView.changed(answered(response)));
            return ExitCode.OK;
        }
    }

    @Command(
            name = "undo",
            abbreviateSynopsis = true,
            description = {
                "Undo a soft purge.",
                "Responses that were not validated since the purge are as fresh as before.",
                "Works within purge.undo_window. A hard purge cannot be undone."
            },
            footer = {"", "Example: millctl purge undo seazlhklmjsqo"})
    public static final class Undo extends Change {
        public Undo(Invocation invocation) {
            super(invocation, "/v1/cache/purge/undo");
        }
    }

    @Command(
            name = "cancel",
            abbreviateSynopsis = true,
            description = {
                "Stop a purge by pattern, or the count of a purge or dry run.",
                "By pattern: responses that were not removed yet can be used again.",
                "Other purges stay in force; 'purge undo' undoes a soft one."
            },
            footer = {"", "Example: millctl purge cancel deazlhklmjsqo"})
    public static final class Cancel extends Change {
        public Cancel(Invocation invocation) {
            super(invocation, "/v1/cache/purge/cancel");
        }
    }
}
