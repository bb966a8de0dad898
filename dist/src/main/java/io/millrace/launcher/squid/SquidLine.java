package io.millrace.launcher.squid;

import io.millrace.launcher.importing.source.Entry;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A directive of squid.conf: name, arguments, and entry in the report. Confined to one thread. */
final class SquidLine {
    private final String name;
    private final List<String> args;
    private final Entry entry;
    private boolean handled;

    /** @param args words after the name, without quotes and without a comment at the end */
    SquidLine(String name, List<String> args, Entry entry) {
        this.name = name;
        this.args = List.copyOf(args);
        this.entry = entry;
    }

    String name() {
        return name;
    }

    List<String> args() {
        return args;
    }

    String arg(int index) {
        return index < args.size() ? args.get(index) : "";
    }

    /** Returns the arguments from an index to the last one. */
    List<String> argsFrom(int index) {
        return index < args.size() ? args.subList(index, args.size()) : List.of();
    }

    boolean isOn() {
        return arg(0).equals("on");
    }

    /**
     * Returns the value of an option such as {@code weight=3}; null if it is not set. An option may have several names.
     */
    @Nullable
    String option(String... names) {
        for (String word : args) {
            for (String each : names) {
                if (word.startsWith(each + "=")) {
                    return word.substring(each.length() + 1);
                }
            }
        }
        return null;
    }

    Entry entry() {
        return entry;
    }

    /** Marks the line as handled (translated or reported), and returns its entry in the report. */
    Entry markHandled() {
        handled = true;
        return entry;
    }

    /** Marks the line as handled, with a note. */
    void note(String note) {
        markHandled().note(note);
    }

    /** Marks the line, or a part of it, as having no equivalent. */
    void notMapped(String why) {
        markHandled().notMapped(why);
    }

    boolean isHandled() {
        return handled;
    }
}
