package io.millrace.cli.command.traffic;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.MetricRates;
import io.millrace.cli.client.MetricSample;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.command.WatchInterval;
import io.millrace.cli.render.TopView;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "top",
        abbreviateSynopsis = true,
        description = {
            "Show the activity of the proxy on one screen.",
            "Rates, hits, bytes, connections, RAM and disk, origins. Without a terminal",
            "it prints one frame and ends."
        },
        footer = {"", "Keys: q ends, p pauses and resumes, any other key updates unless paused."})
public final class TopCommand extends ApiCommand {
    private static final Duration KEY_PERIOD = Duration.ofMillis(100);
    private static final double NANOS_PER_SECOND = 1e9;

    /** Time between the two queries for a single frame, which is printed if there is no terminal. */
    private static final Duration SINGLE_FRAME_PERIOD = Duration.ofSeconds(1);

    @Option(
            names = {"-i", "--interval"},
            paramLabel = "SECONDS",
            converter = WatchInterval.class,
            description = "Time between two updates. Default: 2.")
    private Duration interval = Duration.ofSeconds(2);

    /** The action that the user requests with a key. */
    private enum KeyAction {
        NOTHING,
        UPDATE,
        PAUSE,
        END
    }

    /** The metrics of one query, and its time on the scale of {@link System#nanoTime}. */
    record Snapshot(List<MetricSample> samples, long nanos) {}

    public TopCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected void check() throws CommandFailure {
        if (invocation().watch() != null) {
            throw new CommandFailure(ExitCode.USAGE, "top refreshes by itself: use -i instead of --watch");
        }
    }

    @Override
    protected boolean isEndless() {
        return !invocation().isJson() && invocation().environment().isTerminal();
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        Snapshot first = query(client);
        if (invocation().isJson() || !invocation().environment().isTerminal()) {
            return single(client, first);
        }
        Terminal terminal = Terminal.take(console().out());
        if (terminal == null) {
            return single(client, first);
        }
        try (terminal) {
            draw(client, first, terminal);
        }
        return ExitCode.OK;
    }

    private int single(AdminClient client, Snapshot first) throws AdminClientException, CommandFailure {
        invocation().clock().sleep(SINGLE_FRAME_PERIOD);
        MetricRates rates = rates(first, query(client));
        if (invocation().isJson()) {
            console().json(TopView.json(rates));
        } else {
            console()
                    .data(TopView.frame(
                            rates,
                            title(client, ""),
                            Integer.MAX_VALUE,
                            Integer.MAX_VALUE,
                            console().paint()));
        }
        return ExitCode.OK;
    }

    /** Queries metrics and draws frames until the user ends the command. */
    public void draw(AdminClient client, Snapshot first, Screen screen) throws CommandFailure {
        Snapshot before = first;
        MetricRates rates = new MetricRates(first.samples(), first.samples(), 1);
        boolean paused = false;
        String note = "";
        while (true) {
            Screen.Size size = screen.size();
            String title = title(client, paused ? "paused" : note);
            screen.draw(TopView.frame(
                    rates, title, size.width(), size.height(), console().paint()));
            KeyAction action = await(paused ? Duration.ofDays(1) : interval);
            if (action == KeyAction.END) {
                return;
            }
            paused = (action == KeyAction.PAUSE) != paused;
            if (paused) {
                continue;
            }
            try {
                Snapshot after = query(client);
                rates = rates(before, after);
                before = after;
                note = "";
            } catch (AdminClientException e) {
                note = "NOT REACHED";
            } catch (CommandFailure e) {
                if (!e.isTemporary()) {
                    throw e;
                }
                note = "NO WORKER ANSWERS";
            }
        }
    }

    private static MetricRates rates(Snapshot before, Snapshot after) {
        double seconds = Math.max(1, after.nanos() - before.nanos()) / NANOS_PER_SECOND;
        return new MetricRates(before.samples(), after.samples(), seconds);
    }

    private static String title(AdminClient client, String note) {
        LocalTime now = LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS);
        return "millctl top  " + now + "  " + client.address() + (note.isEmpty() ? "" : "  " + note);
    }

    /** Waits for a key and returns its action; {@link KeyAction#NOTHING} if no key is pressed within {@code time}. */
    private KeyAction await(Duration time) {
        long untilNanos = System.nanoTime() + time.toNanos();
        while (System.nanoTime() - untilNanos < 0) {
            KeyAction action = action(invocation().environment().input());
            if (action != KeyAction.NOTHING) {
                return action;
            }
            if (!invocation().clock().sleep(KEY_PERIOD)) {
                return KeyAction.END;
            }
        }
        return KeyAction.NOTHING;
    }

    private static KeyAction action(@Nullable InputStream keys) {
        try {
            if (keys == null || keys.available() == 0) {
                return KeyAction.NOTHING;
            }
            return switch (keys.read()) {
                case 'q', 'Q', 4, -1 -> KeyAction.END;
                case 'p', 'P' -> KeyAction.PAUSE;
                default -> KeyAction.UPDATE;
            };
        } catch (IOException e) {
            return KeyAction.END;
        }
    }

    /** Requests the metrics once. */
    public Snapshot query(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get("/metrics");
        if (!response.isSuccess()) {
            throw refused(response);
        }
        return new Snapshot(
                MetricSample.parse(response.text()), invocation().clock().nanoTime());
    }
}
