package io.millrace.launcher.config;

import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import io.millrace.proxy.admin.config.ConfigControl.Result;
import io.millrace.proxy.admin.config.ConfigControl.Setting;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.proxy.observe.event.EventSink;
import java.util.List;

/** Records configuration changes in the event log. Stateless. */
final class ConfigEvents {
    /** Limit of keys that an event names. */
    private static final int KEYS_MAX = 8;

    /** Limit of the text with the old and new value of a key, in characters. */
    private static final int DETAIL_MAX = 100;

    private ConfigEvents() {}

    /**
     * Records an accepted or rejected change.
     *
     * @param by the command, such as {@code reload}, and the client if it is known
     * @param name the name of the configuration
     */
    static void report(ReloadReport report, String by, String name, EventSink events) {
        long now = System.currentTimeMillis();
        if (report.ok()) {
            List<String> keys =
                    report.settings().stream().map(ConfigEvents::described).toList();
            events.record(new Event(
                    now, EventKind.RELOAD, name, by + ": " + (keys.isEmpty() ? "no change" : abbreviated(keys))));
            return;
        }
        String reason = report.problems().isEmpty()
                ? report.settings().stream()
                        .filter(setting -> setting.result() == Result.REJECTED)
                        .map(setting -> setting.key() + ": " + setting.detail())
                        .findFirst()
                        .orElse("")
                : report.problems().get(0).text();
        events.record(new Event(now, EventKind.CONFIG_REJECTED, name, by + ": " + reason));
    }

    /** The key of a setting, with its old and new value unless they are long. */
    private static String described(Setting setting) {
        String detail = setting.detail();
        return detail.isEmpty() || detail.length() > DETAIL_MAX ? setting.key() : setting.key() + " " + detail;
    }

    private static String abbreviated(List<String> keys) {
        return keys.size() <= KEYS_MAX
                ? String.join(", ", keys)
                : String.join(", ", keys.subList(0, KEYS_MAX)) + " and " + (keys.size() - KEYS_MAX) + " more";
    }
}
