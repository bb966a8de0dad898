package io.millrace.store;

/** The rule by which a full volume admits new objects. A volume that is not full admits all. */
public enum DiskAdmission {
    /** Admits every object. */
    ALWAYS,
    /** Admits objects whose key was requested before, within the limits of the request history. */
    SECOND_HIT,
    /**
     * Admits an object if objects with the same request count were reused about as often as the objects that it would
     * displace.
     */
    FREQUENCY
}
