/**
 * Admission to the disk and retention on it. The policy groups objects into classes by the recent request counts of
 * their keys, and measures how often objects of each class are requested again. By these rates it decides which new
 * objects a volume admits and which old ones it keeps.
 */
@NullMarked
package io.millrace.store.admission;

import org.jspecify.annotations.NullMarked;
