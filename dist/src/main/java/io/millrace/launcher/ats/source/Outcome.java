package io.millrace.launcher.ats.source;

import java.util.Locale;

/** What became of a line; each line has one. */
public enum Outcome {
    /** It is said by the keys that the report names. */
    MAPPED("mapped"),
    /** It says what Millrace does anyhow, so it was left out. */
    SAME_AS_DEFAULT("our default"),
    /** It changes nothing that Millrace has, or nothing at all. */
    NO_EFFECT("no effect"),
    /** All of it, or the part that the note names, has no equal; keys that it has all the same are named. */
    NOT_MAPPED("NOT MAPPED");

    private final String label;

    Outcome(String label) {
        this.label = label;
    }

    /** As the table shows it. */
    public String label() {
        return label;
    }

    /** As JSON has it. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
