// Licensed under the Apache License, Version 2.0 (the "License"); you may
// not use this file except in compliance with the License. You may obtain
// a copy of the License at
//
//      http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
// WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
// License for the specific language governing permissions and limitations
// under the License.

/** What the API answers, as far as the page reads it. */
export interface Me {
  user_name: string; project_id: string; project_name: string; admin: boolean;
  may: Record<string, boolean>; server_time: number;
}
export interface Session {
  auth_strategy: 'keystone' | 'noauth'; signed_in: boolean; languages: string[];
}
export interface ResourceType {
  name: string; noun?: string; exclusive?: boolean; classes?: string[];
}
export interface Reservation { id: string; resource_type: string; status: string }
export interface Lease {
  id: string; name: string; status: string; start_date: string; end_date: string;
  degraded: boolean; project_id: string; reservations: Reservation[];
}
export interface Offer {
  id: string; start_date: string; end_date: string; held_until: string | null;
  reservations: { amount: number }[];
}
export interface Step {
  effect: string; resource_type: string; state: string; first_at: string; error: string | null;
}
export interface Awaited { event_type: string; time: string; due: string; why: string | null }
export interface History { steps: Step[]; awaited: Awaited[] }
export interface Series { free: number[]; total: number[] }
export interface Availability {
  start: string; end: string; step: number; buckets: number;
  groups: { value: string | null; whole: Series }[];
}
