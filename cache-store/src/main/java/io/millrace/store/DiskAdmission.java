package io.millrace.store;

/** The rule by which a full volume admits new objects. A volume that is not full admits every object. */
public enum DiskAdmission {
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
