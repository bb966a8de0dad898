package io.millrace.launcher.importing.source;

import java.util.Locale;

/** The outcome of the import of a line. */
public enum Outcome {
    /** The line was converted to keys with the same effect. */
    MAPPED("mapped"),
    /** The line sets Millrace's default, so no key was written. */
    SAME_AS_DEFAULT("our default"),
    /** The line has no effect in the other proxy, or needs no setting in Millrace. */
    NO_EFFECT("no effect"),
    /**
     * The line, or a part that the note names, has no equivalent. Other parts of the line may have been converted to
     * keys.
     */
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
