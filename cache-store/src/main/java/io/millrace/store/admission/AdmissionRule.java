package io.millrace.store.admission;

/** The rule by which a full volume admits new objects; the internal counterpart of {@code DiskAdmission}. */
public enum AdmissionRule {
    /** Admits every object. */
    ALWAYS,
    /**
     * Admits an object if its key was requested at least once before. The request history is approximate and forgets
     * old requests.
     */
    SECOND_HIT,
    /**
     * Admits an object if its expected reuse rate is not far below the rate of the objects that it would displace. The
     * expected rate is the measured rate of objects with the same request count.
     */
    FREQUENCY
}
