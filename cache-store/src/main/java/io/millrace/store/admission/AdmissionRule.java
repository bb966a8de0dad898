package io.millrace.store.admission;

/** Which new objects a full volume takes. */
public enum AdmissionRule {
    /** Every one. */
    ALWAYS,
    /** Those whose key was asked for before, as far as is remembered. */
    SECOND_HIT,
    /** Those asked for so often that the like of them were asked for again about as much as what they drive out. */
    FREQUENCY
}
