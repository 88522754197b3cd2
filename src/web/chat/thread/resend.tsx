import { useEffect, useState, type ReactNode } from 'react';

/**
 * Says when the page sends a message again that the service has deferred.
 * @param props `at`: in milliseconds since the epoch
 */
export function Resend({ at }: { readonly at: number }): ReactNode {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => {
      setNow(Date.now());
    }, 1000);
    return () => {
      clearInterval(timer);
    };
  }, []);
  const seconds = Math.ceil((at - now) / 1000);
  return (
    <div className="problems">
      <div>
        <p role="status">Not sent yet: the service has asked to wait.</p>
        {/* Outside of the status, so that screen readers do not read out each second. */}
        <p>{seconds > 0 ? `Sending again in ${String(seconds)} s.` : 'Sending again.'}</p>
      </div>
    </div>
  );
}
