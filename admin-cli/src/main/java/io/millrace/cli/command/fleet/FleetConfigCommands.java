package io.millrace.cli.command.fleet;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.DurationConverter;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.fleet.FleetConfigView;
import io.millrace.cli.sign.RevisionSigner;
import io.millrace.cli.sign.RevisionSigner.Statement;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The commands {@code fleet config push}, {@code status}, {@code history}, {@code rollback} and {@code keygen}. */
public final class FleetConfigCommands {
    /** Length of a part of the content, which fits the limit of request bodies of the admin API, in bytes. */
    private static final int PART_BYTES = 40 << 10;

    private FleetConfigCommands() {}

    @Command(
            name = "push",
            abbreviateSynopsis = true,
            description = {
                "Sign a configuration, and apply it on every node of the fleet.",
                "With --canary, only these nodes apply it at first. After the time of --for, their figures",
                "decide: all nodes apply it, or the nodes go back to the configuration before.",
                "Figures: hit_ratio (%%), errors (%% of requests), p99_ms, requests."
            },
            footer = {"", "Example: millctl fleet config push site.yaml --key fleet.key --canary n1 --guard 'errors<1'"
            })
    public static final class Push extends RevisionCommand {
        @Parameters(
                paramLabel = "FILE",
                description =
                        "Configuration of all nodes; its sections 'tiers' and 'nodes' add keys for single tiers and nodes.")
        private Path file = Path.of("");

        @Option(names = "--canary", paramLabel = "NODES", split = ",", description = "Nodes that apply it first.")
        private List<String> canary = new ArrayList<>();

        @Option(
                names = "--for",
                paramLabel = "TIME",
                converter = DurationConverter.class,
                description = "Time for which the canary is observed. Default: 5m.")
        private Duration time = Duration.ofMinutes(5);

        @Option(
                names = "--guard",
                paramLabel = "GUARD",
                split = ",",
                description = "Condition on each canary node; may be repeated.")
        private List<String> guards = new ArrayList<>();

        public Push(Invocation invocation) {
            super(invocation);
        }

        @Override
        protected void check() throws CommandFailure {
            super.check();
            if (canary.isEmpty() && !guards.isEmpty()) {
                throw new CommandFailure(ExitCode.USAGE, "--guard needs --canary NODES");
            }
        }

        @Override
        protected int run(AdminClient client) throws AdminClientException, CommandFailure {
            byte[] text;
            try {
                text = Files.readAllBytes(file);
            } catch (IOException e) {
                throw new CommandFailure(ExitCode.USAGE, file + " cannot be read: " + e.getMessage());
            }
            signer();
            JsonObject state = state(client);
            long next = state.number("next", 1);
            String hash = RevisionSigner.hash(text);
            upload(client, hash, text);
            List<String> conditions = new ArrayList<>();
            guards.forEach(guard -> conditions.add(guard.replace(" ", "")));
            long seconds = canary.isEmpty() ? 0 : Math.max(1, time.toSeconds());
            Statement revision = statement(state, next, hash, 0, canary, seconds, conditions);
            Statement fallback = canary.isEmpty()
                    ? null
                    : statement(
                            state,
                            next + 1,
                            state.text("content", NONE),
                            state.number("newest", 0),
                            List.of(),
                            0,
                            List.of());
            return publish(client, revision, fallback, file);
        }

        private void upload(AdminClient client, String hash, byte[] text) throws AdminClientException, CommandFailure {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
                zip.write(text);
            } catch (IOException e) {
                throw new CommandFailure(ExitCode.FAILED, "the content cannot be compressed: " + e.getMessage());
            }
            byte[] compressed = out.toByteArray();
            for (int part = 0; part * PART_BYTES < compressed.length; part++) {
                int end = Math.min(compressed.length, (part + 1) * PART_BYTES);
                byte[] bytes = Arrays.copyOfRange(compressed, part * PART_BYTES, end);
                answered(client.post(PATH + "/part", JsonText.part(hash, part, bytes)));
            }
        }
    }

    @Command(
            name = "rollback",
            abbreviateSynopsis = true,
            description = {
                "Apply the content of an earlier revision, as a new revision.",
                "Without a number: the newest one that differs from the current content and was not rolled back.",
                "Ends a canary."
            },
            footer = {"", "Example: millctl fleet config rollback 12 --key fleet.key --wait"})
    public static final class Rollback extends RevisionCommand {
        @Parameters(paramLabel = "REVISION", arity = "0..1", description = "Number, from fleet config history.")
        private @Nullable Long revision;

        public Rollback(Invocation invocation) {
            super(invocation);
        }

        @Override
        protected int run(AdminClient client) throws AdminClientException, CommandFailure {
            signer();
            JsonObject state = state(client);
            String content = state.text("previous_content", NONE);
            long restored = state.number("previous", 0);
            // A server of an older version does not report the content that was in use before the canary.
            boolean isNamed = state.has("previous_content");
            if (revision == null && isNamed && state.text("stage", "").equals("canary")) {
                String before = restored == 0
                        ? "its local file alone, because there is no earlier revision"
                        : "the content of revision " + restored;
                console()
                        .say("ends the canary of revision " + state.number("newest", 0) + "; every node goes back to "
                                + before);
            } else {
                List<JsonObject> revisions =
                        answered(client.get(PATH + "/history")).objects("revisions");
                JsonObject earlier = earlier(revisions, state.text("content", NONE));
                content = earlier.text("content", NONE);
                restored = earlier.number("revision", 0);
            }
            Statement statement = statement(state, state.number("next", 1), content, restored, List.of(), 0, List.of());
            return publish(client, statement, null, null);
        }

        /**
         * Returns the requested revision. Without a number, returns the newest one that has not failed and whose
         * content differs from the current content.
         */
        private JsonObject earlier(List<JsonObject> revisions, String current) throws CommandFailure {
            Long wanted = revision;
            JsonObject found = null;
            for (JsonObject one : revisions) {
                boolean isOther = !one.text("content", NONE).equals(current)
                        && one.text("failure", "").isEmpty();
                if (wanted == null ? isOther : one.number("revision", 0) == wanted) {
                    found = one;
                }
            }
            if (found == null) {
                throw new CommandFailure(
                        ExitCode.USAGE,
                        wanted == null
                                ? "the history has no earlier revision with another content, so no node has changed"
                                : "the history has no revision " + wanted + ", so no node has changed",
                        "see millctl fleet config history; to use other settings, push another file");
            }
            return found;
        }
    }

    @Command(
            name = "status",
            abbreviateSynopsis = true,
            description = {
                "Show the configuration of the fleet on each node.",
                "The exit code is 1 if a live node rejects it, or if a guard has rolled it back."
            },
            footer = {"", "Example: millctl fleet config status"})
    public static final class Status extends ApiCommand {
        public Status(Invocation invocation) {
            super(invocation, Invocation.QUERY_TIMEOUT);
        }

        @Override
        protected int run(AdminClient client) throws AdminClientException, CommandFailure {
            AdminResponse response = client.get(RevisionCommand.PATH);
            JsonObject state = answered(response);
            show(response, FleetConfigView.status(state, console().paint()));
            return RevisionCommand.isRejected(state) || state.number("failed", 0) > 0 ? ExitCode.FAILED : ExitCode.OK;
        }
    }

    @Command(
            name = "history",
            abbreviateSynopsis = true,
            description = "Show the latest revisions of the fleet's configuration.",
            footer = {"", "Example: millctl fleet config history"})
    public static final class History extends ApiCommand {
        public History(Invocation invocation) {
            super(invocation, Invocation.QUERY_TIMEOUT);
        }

        @Override
        protected int run(AdminClient client) throws AdminClientException, CommandFailure {
            AdminResponse response = client.get(RevisionCommand.PATH + "/history");
            show(response, FleetConfigView.history(answered(response)));
            return ExitCode.OK;
        }
    }

    @Command(
            name = "keygen",
            abbreviateSynopsis = true,
            description = {
                "Write a new pair of keys: FILE signs, FILE.pub is for every node.",
                "Works offline. Only this user can read FILE; keep it off the nodes."
            },
            footer = {"", "Example: millctl fleet config keygen fleet.key"})
    public static final class Keygen implements Callable<Integer> {
        @Parameters(paramLabel = "FILE", description = "File of the private key; it must not exist.")
        private Path file = Path.of("");

        private final Invocation invocation;

        public Keygen(Invocation invocation) {
            this.invocation = invocation;
        }

        @Override
        public Integer call() throws CommandFailure {
            try {
                Path publicFile = RevisionSigner.generate(file);
                if (invocation.isJson()) {
                    invocation
                            .console()
                            .json(JsonText.object("private", file.toString(), "public", publicFile.toString()));
                } else {
                    invocation
                            .console()
                            .data(List.of(
                                    "private key: " + file + ", for --key",
                                    "public key:  " + publicFile + ", for fleet.config_public_key_file"));
                }
                return ExitCode.OK;
            } catch (FileAlreadyExistsException e) {
                throw new CommandFailure(ExitCode.USAGE, e.getMessage() + " exists; name another file");
            } catch (IOException e) {
                throw new CommandFailure(ExitCode.FAILED, file + " cannot be written: " + e.getMessage());
            }
        }
    }
}
