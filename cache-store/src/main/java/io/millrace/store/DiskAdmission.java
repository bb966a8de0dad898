package io.millrace.store;

/** Which new objects a volume takes once it is full; before that it takes all. */
public enum DiskAdmission {
    /** Every one. */
    ALWAYS,
    /** Those whose key was asked for before, as far as is remembered. */
    SECOND_HIT,
    /** Those that were asked for so often that the like of them were of use about as much as what they would drive out. */
    FREQUENCY
}
