package io.millrace.proxy.observe.alarm;

import java.util.List;

/** The alarms that are raised now. Thread-safe; does not block. */
@FunctionalInterface
public interface AlarmSource {
    /** Returns the alarms in the order of their kinds. */
    List<Alarm> alarms();
}
