package io.millrace.store.admission;

/** The rule by which a full volume admits new objects. */
public enum AdmissionRule {
    /** Admits every object. */
    ALWAYS,
    /** Admits objects whose key was requested before, within the limits of the request history. */
    SECOND_HIT,
    /**
     * Admits an object if objects with the same request count were requested again about as often as the objects that
     * it would displace.
     */
    FREQUENCY
}
