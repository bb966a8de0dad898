package io.millrace.launcher.importing.source;

import java.util.Locale;

/** The outcome of an imported line; each line has one. */
public enum Outcome {
    /** The keys in the report have the effect of the line. */
    MAPPED("mapped"),
    /** The line was omitted, since it sets Millrace's default. */
    SAME_AS_DEFAULT("our default"),
    /** The line has no effect, or affects nothing in Millrace. */
    NO_EFFECT("no effect"),
    /** The line, or the part in the note, has no equivalent; keys for other parts are in the report. */
    NOT_MAPPED("NOT MAPPED");

    private final String label;

    Outcome(String label) {
        this.label = label;
    }

    /** Name in the table. */
    public String label() {
        return label;
    }

    /** Name in JSON. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
